// Runs a list of commands on the allocator and on the reference model, and compares every counter after every one. Two
// devices with three contexts each, which share what a process has one of: the segment map, the clock, captures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/bytes.hpp"
#include "shim/alloc/policy.hpp"

namespace tidemark::test {

#define TIDEMARK_COMMANDS(X) \
  X(Allocate)                \
  X(Free)                    \
  X(FreeAll)                 \
  X(DoubleFree)              \
  X(InteriorFree)            \
  X(EmptyCache)              \
  X(ParkEmptyCache)          \
  X(ResetPeaks)              \
  X(ResetPeakSlot)           \
  X(ResetAccumulated)        \
  X(SetLimit)                \
  X(BeginCapture)            \
  X(EndCapture)              \
  X(SubmitWork)              \
  X(FinishWork)              \
  X(RefuseCalls)             \
  X(DestroyContext)          \
  X(FailToDestroyContext)    \
  X(CountOnly)               \
  X(StopSubAllocating)       \
  X(Pin)                     \
  X(TakeMemory)              \
  X(FailAllocations)         \
  X(FailReleases)            \
  X(BreakDevice)             \
  X(HealDevice)              \
  X(Advance)                 \
  X(Beat)                    \
  X(MemoryInfo)              \
  X(AddKinds)                \
  X(RemoveKinds)

enum class Op : std::uint8_t {
#define X(name) name,
  TIDEMARK_COMMANDS(X)
#undef X
      count_
};

// What `a` and `b` mean depends on the operation; every value is valid (an index is taken modulo what there is).
struct Command {
  Op op = Op::Allocate;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t device = 0;
};

struct RunSetup {
  alloc::Policy policy;
  Bytes capacity = 1_GiB;
  bool fences = true;
};

// Empty, or what differed, and after which command.
struct RunResult {
  std::string difference;
  std::size_t after = 0;
};
[[nodiscard]] RunResult run_commands(const RunSetup& setup, const std::vector<Command>& commands);

// The shortest list found that still differs, as C++ to paste into a test.
[[nodiscard]] std::vector<Command> shrink(const RunSetup& setup, std::vector<Command> commands);
[[nodiscard]] std::string as_source(const std::vector<Command>& commands);

}  // namespace tidemark::test
