// The values of `run --limit`, as TIDEMARK_LIMIT has them. Pure.
#pragma once

#include <span>
#include <string>

namespace tidemark::viewer {

// "8GiB", {"cuda:0=1G", "mtia=80%"}: all of them as one list. Throws Failure{Usage}, with the reason and an example,
// for what the library would not take or what takes another part of the list back: it lets the last item that fits a
// device count, so a second one for the same device, or a general one after one of its devices, is a mistake.
[[nodiscard]] std::string limit_setting(std::span<const std::string> values);

}  // namespace tidemark::viewer
