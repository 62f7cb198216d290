// x86-64: by the tables that compilers write for every function, remembered by address; where code has none (made at
// run time, or by hand), by rbp, if what it points to looks like a frame.
#include "shim/stacks/step.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "shim/stacks/call_frame_program.hpp"
#include "shim/stacks/call_frame_table.hpp"
#include "shim/stacks/capture.hpp"
#include "shim/stacks/readable.hpp"
#include "shim/stacks/row_cache.hpp"

namespace tidemark::stacks {
namespace {

// A frame of more is rather a wrong rbp.
constexpr std::uintptr_t kLargestFrame = std::uintptr_t{1} << 20;
// Of frames in a row that nothing but rbp vouches for.
constexpr unsigned kMostByFramePointer = 64;
// Nothing is mapped below (vm.mmap_min_addr), and user space ends there.
constexpr std::uintptr_t kLowestCode = 0x10000;
constexpr std::uintptr_t kHighestCode = std::uintptr_t{1} << 47;

constexpr bool can_be_code(std::uintptr_t address) { return address >= kLowestCode && address < kHighestCode; }

// call rel32, or call through a register or memory in each length that its operand has.
bool is_call_before(std::uintptr_t address) noexcept {
  constexpr std::size_t kLongest = 7;
  std::array<std::uint8_t, kLongest> before{};
  if (!copy_bytes(address - kLongest, before)) {
    return false;
  }
  if (before[kLongest - 5] == 0xE8) {
    return true;
  }
  return std::ranges::any_of(std::array<std::size_t, 5>{2, 3, 4, 6, 7}, [&](std::size_t length) {
    return before[kLongest - length] == 0xFF && ((before[kLongest - length + 1] >> 3) & 7) == 2;
  });
}

// Code that is in no object: what is remembered of it may be of other code that was there before, which does no harm,
// since it is no more than a sign.
constexpr std::uint64_t kMadeAtRunTime = 1;

Row row_of(std::uintptr_t address, WalkState& state) noexcept {
  if (!state.object.holds(address)) {
    state.object = find_object(address);
  }
  const bool is_in_object = state.object.holds(address);
  const std::uint64_t identity = is_in_object ? state.object.identity : kMadeAtRunTime;
  Row row;
  if (find_row(address, identity, row)) {
    return row;
  }
  CallFrameEntry entry;
  if (is_in_object && find_call_frame_entry(state.object, address, entry)) {
    row = find_row_by_table(entry, address);
  } else {
    row.kind = RowKind::FramePointer;
    row.after_call = is_call_before(address + 1) ? 1 : 0;
  }
  if (is_in_object || row.after_call != 0) {
    keep_row(address, identity, row);
  }
  return row;
}

std::uintptr_t plus(std::uintptr_t address, std::int32_t offset) {
  return address + static_cast<std::uintptr_t>(std::intptr_t{offset});
}

// A frame pointer is Unknown when it was not restored; only a row that asks for it minds.
Step step_by_table(Frame& frame, const Row& row, WalkState& state) noexcept {
  const auto at = [&](Base base, std::uintptr_t cfa) {
    return base == Base::Cfa ? cfa : base == Base::StackPointer ? frame.sp : frame.fp;
  };
  const bool wants_fp = row.cfa_base == Base::FramePointer || row.return_base == Base::FramePointer ||
                        (row.fp == SavedFramePointer::InMemory && row.fp_base == Base::FramePointer);
  if (wants_fp && !frame.fp_known) {
    return Step::Lost;
  }
  std::uintptr_t cfa = plus(at(row.cfa_base, 0), row.cfa_offset);
  if (row.cfa_indirect != 0) {
    if (!state.memory.read(cfa, cfa)) {
      return Step::Lost;
    }
    cfa = plus(cfa, row.cfa_added);
  }
  // Stacks grow down, so a caller's lies above; only what a signal interrupted may have been on another.
  if (row.interrupted == 0 && cfa <= frame.sp) {
    return Step::Lost;
  }
  Frame caller{.pc = 0, .sp = cfa, .fp = frame.fp, .fp_known = frame.fp_known, .interrupted = row.interrupted != 0};
  if (!state.memory.read(plus(at(row.return_base, cfa), row.return_offset), caller.pc)) {
    return Step::Lost;
  }
  if (caller.pc == 0) {
    return Step::Outermost;
  }
  if (row.fp == SavedFramePointer::InMemory) {
    caller.fp_known = state.memory.read(plus(at(row.fp_base, cfa), row.fp_offset), caller.fp);
  } else if (row.fp == SavedFramePointer::Unknown) {
    caller.fp_known = false;
  }
  if (!can_be_code(caller.pc)) {
    return Step::Lost;
  }
  state.by_frame_pointer = 0;
  frame = caller;
  return Step::Went;
}

// A wrong rbp must not invent callers: what it leads to is a function that has tables, or at least comes after a call.
Step step_by_frame_pointer(Frame& frame, WalkState& state) noexcept {
  if (frame.fp_known && frame.fp == 0) {
    return Step::Outermost;  // the convention's mark; the loader has no tables below the constructors that it calls
  }
  Frame caller{.pc = 0, .sp = frame.fp + 2 * sizeof(std::uintptr_t), .fp = 0, .fp_known = true, .interrupted = false};
  if (!frame.fp_known || frame.fp < frame.sp || frame.fp - frame.sp > kLargestFrame ||
      ++state.by_frame_pointer > kMostByFramePointer || !state.memory.read(frame.fp, caller.fp) ||
      !state.memory.read(frame.fp + sizeof(std::uintptr_t), caller.pc)) {
    return Step::Lost;
  }
  if (caller.pc == 0) {
    return Step::Outermost;
  }
  if (!can_be_code(caller.pc)) {
    return Step::Lost;
  }
  const Row next = row_of(caller.place(), state);
  if (next.kind == RowKind::FramePointer && next.after_call == 0) {
    return Step::Lost;
  }
  frame = caller;
  return Step::Went;
}

}  // namespace

Step step(Frame& frame, WalkState& state) noexcept {
  const Row row = row_of(frame.place(), state);
  switch (row.kind) {
    case RowKind::Table:
      return step_by_table(frame, row, state);
    case RowKind::FramePointer:
      return step_by_frame_pointer(frame, state);
    case RowKind::Outermost:
      return Step::Outermost;
    case RowKind::Lost:
      break;
  }
  return Step::Lost;
}

void forget_unloaded() noexcept { forget_rows(); }

}  // namespace tidemark::stacks
