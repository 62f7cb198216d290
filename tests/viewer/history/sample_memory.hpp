// A device whose memory is used as a program uses it, as a history would tell of it: for tests of what is made of one.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::test {

inline constexpr std::uint64_t kSampleMiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kSampleStart = 1'790'000'000'000'000'000;  // ns since the epoch: 2026-09-21
inline constexpr std::uint64_t kSampleBase = 0x7f00'0000'0000;

// One event a millisecond. Blocks are cut from the first place that is large enough, in units of 512 bytes.
class SampleMemory {
 public:
  explicit SampleMemory(segment::Backend backend = segment::Backend::Cuda, std::uint32_t ordinal = 0);

  // The segments' addresses, in their order.
  std::uint64_t add_segment(std::uint64_t size, bool is_large, history::StackId stack = 0);
  void remove_segment(std::uint64_t address);
  std::uint64_t allocate(std::uint64_t requested, history::StackId stack = 0);
  void request_free(std::uint64_t address, history::StackId stack = 0);
  void complete_free(std::uint64_t address);
  void free(std::uint64_t address) {
    request_free(address);
    complete_free(address);
  }
  void run_out(std::uint64_t requested, std::uint64_t device_free, history::StackId stack = 0);
  void note(history::Action action, std::uint64_t size);
  // As if the recording began now: no event from before, no stack, ages by the second.
  void begin_recording();
  void pass(std::uint64_t ms) { now_ns_ += ms * 1'000'000; }

  [[nodiscard]] const history::Device& device() const { return device_; }
  [[nodiscard]] std::uint64_t now_ns() const { return now_ns_; }

 private:
  history::Block* find(std::uint64_t address);
  void add_event(history::Event event);

  history::Device device_;
  std::uint64_t now_ns_ = kSampleStart;
};

// Allocates and frees at random, with segments that come and go, and some frees not completed.
void run_at_random(SampleMemory& memory, std::uint32_t seed, int steps, history::StackId stacks = 0);

// The two functions of a small training program, in a loader's and a model's file, as stacks 1 and 2.
[[nodiscard]] std::vector<viewer::Frames> sample_stacks();

// cuda:0 with both, at the end of it: 3 MiB by the loader, 1 MiB and 600 bytes by the model, one block pending, 100
// bytes older than the recording.
[[nodiscard]] viewer::MemorySnapshot sample_snapshot();

}  // namespace tidemark::test
