// One thread's loop: allocate on the device, fill it on some stream, look at it again later, free it.
//
// Always the same with the same seed: sizes, streams and contents come from one generator, so that the checksum over
// all that was read back is the same in every run of as many iterations.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <stdexcept>

namespace churn {

// Throws with the driver's name for what went wrong.
void check(cudaError_t code, const char* what);

class Worker {
 public:
  explicit Worker(unsigned seed);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Allocates one block; frees others while there are more than `most_blocks`.
  void step(std::size_t most_blocks);
  // Checks and frees all that is left.
  void finish();

  [[nodiscard]] long steps() const { return steps_; }
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_; }

 private:
  static constexpr std::size_t kStreams = 3;
  static constexpr std::size_t kWindow = 1024;

  struct Block {
    std::byte* data = nullptr;
    std::size_t size = 0;
    unsigned char fill = 0;
    std::uint32_t label = 0;  // stored at the front
    cudaStream_t stream = nullptr;
    bool is_checked = false;  // most; the others are freed while they may still be filled
  };

  void free_oldest();
  void look_at(const Block& block);

  std::mt19937 random_;
  std::array<cudaStream_t, kStreams> streams_{};
  unsigned char* window_ = nullptr;  // pinned
  std::deque<Block> blocks_;
  long steps_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t checksum_ = 0xcbf29ce484222325;
};

}  // namespace churn
