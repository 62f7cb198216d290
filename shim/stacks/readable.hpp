// Can this word be read? Asked of the kernel, where nothing else says so. Changes nothing, errno included.
#pragma once

#include <cstdint>
#include <span>

namespace tidemark::stacks {

// What one answer holds for: no page is smaller.
inline constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t page_of(std::uintptr_t address) { return address & ~(kPage - 1); }

// Requires: a multiple of 8. Some 100 ns.
[[nodiscard]] bool is_readable(std::uintptr_t address) noexcept;

// The bytes from there on, copied by the kernel: also of memory that another thread may unmap meanwhile. False: they
// are not all there. Some 300 ns.
[[nodiscard]] bool copy_bytes(std::uintptr_t address, std::span<std::uint8_t> into) noexcept;

}  // namespace tidemark::stacks
