// The work that every allocator is given: allocations and frees by slot, pure data, the same in every run.
//
// A cycle leaves as many blocks live in each slot as it found, so it can be played for as long as one likes. What is
// timed is a batch: a whole number of pairs of one allocation and one free, alike enough to be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::bench {

struct Step {
  std::uint32_t slot = 0;
  std::uint64_t size = 0;  // 0: the slot's block is freed
};

struct Workload {
  const char* name = "";
  std::uint32_t slots = 0;
  std::vector<Step> before{};  // makes live what the cycle finds
  std::vector<Step> cycle{};
  std::size_t batch_steps = 0;  // divides the cycle

  [[nodiscard]] std::size_t batch_pairs() const { return batch_steps / 2; }
};

// One of everything but the cross-thread free. `memory`: what a thread may have of the device; `seed`: another thread's
// work is of the same kind, not the same.
std::vector<Workload> workloads(std::uint64_t memory, std::uint64_t seed);

// The cross-thread free: one thread allocates blocks of this size, the other frees them.
inline constexpr const char* kCrossThread = "crossthread";
inline constexpr std::uint64_t kCrossThreadSize = 16 << 10;

}  // namespace tidemark::bench
