// Is an address inside this library? A look-up that answers with ourselves is never "the real one".
#pragma once

namespace tidemark::hook {

[[nodiscard]] bool is_inside_our_object(const void* address) noexcept;

// One of ours, to ask the loader by.
[[nodiscard]] const void* address_in_our_object() noexcept;

}  // namespace tidemark::hook
