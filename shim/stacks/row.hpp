// How to get from a frame to its caller's, at one address of x86-64 code: a row of what DWARF calls the call frame
// table, small enough to be kept for each address that was met.
//
// The canonical frame address (CFA) is the stack pointer of the caller after the return. All but hand-written code and
// signal frames keep the return address just below it.
#pragma once

#include <cstdint>

namespace tidemark::stacks {

enum class RowKind : std::uint32_t {
  Lost,          // nothing useful is said about this address
  Outermost,     // said to have no caller
  FramePointer,  // no table here: rbp is all there is
  Table,
};

// What an offset is from.
enum class Base : std::uint32_t { StackPointer, FramePointer, Cfa };

enum class SavedFramePointer : std::uint32_t { Same, InMemory, Unknown };

struct Row {
  std::int32_t cfa_offset = 0;
  std::int32_t return_offset = 0;
  std::int32_t fp_offset = 0;
  RowKind kind : 2 = RowKind::Lost;
  Base cfa_base : 2 = Base::StackPointer;
  std::uint32_t cfa_indirect : 1 = 0;  // the CFA is what is stored there, plus `cfa_added`
  std::uint32_t interrupted : 1 = 0;   // a signal's frame: the caller's pc is no return address
  Base return_base : 2 = Base::Cfa;
  Base fp_base : 2 = Base::Cfa;
  SavedFramePointer fp : 2 = SavedFramePointer::Same;
  std::uint32_t after_call : 1 = 0;  // FramePointer: before the address is a call, so it can be a return address
  std::uint32_t unused : 3 = 0;
  std::int32_t cfa_added : 16 = 0;

  friend bool operator==(const Row&, const Row&) = default;
};
static_assert(sizeof(Row) == 16);

}  // namespace tidemark::stacks
