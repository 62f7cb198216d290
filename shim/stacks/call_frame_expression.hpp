// What a DWARF expression in a call frame table comes to, at one address.
//
// Rows are kept by address, so nothing is computed with a frame's registers here: the result says where to look. That
// covers what compilers, linkers and the C library write: PLT stubs (which ask for the pc), realigned stacks, signal
// frames, hand-written code that keeps its stack pointer in memory.
#pragma once

#include <cstdint>

#include "shim/stacks/byte_cursor.hpp"
#include "shim/stacks/row.hpp"

namespace tidemark::stacks {

// base + offset; if indirect: the word stored there, plus `added`.
struct Place {
  Base base = Base::Cfa;
  std::int64_t offset = 0;
  bool indirect = false;
  std::int64_t added = 0;
};

// DWARF's numbers of x86-64's registers.
inline constexpr std::uint64_t kFramePointerNumber = 6;
inline constexpr std::uint64_t kStackPointerNumber = 7;
inline constexpr std::uint64_t kReturnAddressNumber = 16;

// `starts_with_cfa`: the stack begins with the CFA, as a register's does. False: anything else than a place comes out.
[[nodiscard]] bool evaluate(ByteCursor expression, std::uintptr_t pc, bool starts_with_cfa, Place& result) noexcept;

}  // namespace tidemark::stacks
