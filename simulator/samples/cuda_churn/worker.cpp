#include "simulator/samples/cuda_churn/worker.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace churn {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// As programs ask: many small ones, some odd sizes, a few large ones.
constexpr std::size_t kSizes[] = {1000,       4 * kKiB,   4 * kKiB, 10'000,   64 * kKiB,    64 * kKiB,
                                  300 * kKiB, 512 * kKiB, kMiB,     kMiB + 1, 3 * kMiB + 7, 8 * kMiB};
constexpr std::size_t kFilledEnd = 4 * kKiB;
constexpr unsigned kUncheckedOneIn = 8;

}  // namespace

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string{what} + ": " + cudaGetErrorName(code));
}

Worker::Worker(unsigned seed) : random_(seed) {
  // The first stays the default stream.
  for (std::size_t i = 1; i < kStreams; ++i) {
    check(cudaStreamCreateWithFlags(&streams_[i], i == 1 ? cudaStreamDefault : cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
  }
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, kWindow), "cudaMallocHost");
  window_ = static_cast<unsigned char*>(pinned);
}

Worker::~Worker() {
  for (const Block& block : blocks_) cudaFree(block.data);
  for (std::size_t i = 1; i < kStreams; ++i) cudaStreamDestroy(streams_[i]);
  cudaFreeHost(window_);
}

void Worker::step(std::size_t most_blocks) {
  Block block;
  block.size = kSizes[random_() % std::size(kSizes)];
  block.stream = streams_[random_() % kStreams];
  block.fill = static_cast<unsigned char>(random_());
  block.label = static_cast<std::uint32_t>(random_());
  block.is_checked = random_() % kUncheckedOneIn != 0;

  void* data = nullptr;
  check(cudaMalloc(&data, block.size), "cudaMalloc");
  block.data = static_cast<std::byte*>(data);
  blocks_.push_back(block);
  held_bytes_ += block.size;
  // Both ends, so that the loop is about allocations and not about filling megabytes.
  const std::size_t end = std::min(block.size, kFilledEnd);
  check(cudaMemsetAsync(block.data, block.fill, end, block.stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(block.data + block.size - end, block.fill, end, block.stream), "cudaMemsetAsync");
  check(cudaMemcpyAsync(data, &block.label, sizeof block.label, cudaMemcpyHostToDevice, block.stream),
        "cudaMemcpyAsync");

  while (blocks_.size() > most_blocks) free_oldest();
  ++steps_;
}

void Worker::finish() {
  while (!blocks_.empty()) free_oldest();
}

void Worker::free_oldest() {
  const Block block = blocks_.front();
  if (block.is_checked) look_at(block);
  blocks_.pop_front();
  held_bytes_ -= block.size;
  check(cudaFree(block.data), "cudaFree");
}

// The front and the back of the block.
void Worker::look_at(const Block& block) {
  const std::size_t half = std::min(block.size, kWindow) / 2;
  check(cudaMemcpyAsync(window_, block.data, half, cudaMemcpyDeviceToHost, block.stream), "cudaMemcpyAsync");
  check(cudaMemcpyAsync(window_ + half, block.data + block.size - half, half, cudaMemcpyDeviceToHost, block.stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(block.stream), "cudaStreamSynchronize");

  std::uint32_t label = 0;
  std::memcpy(&label, window_, sizeof label);
  const bool filled =
      std::all_of(window_ + sizeof label, window_ + 2 * half, [&](unsigned char byte) { return byte == block.fill; });
  if (label != block.label || !filled) throw std::runtime_error("a block doesn't hold what was stored in it");
  for (std::size_t i = 0; i < 2 * half; ++i) checksum_ = (checksum_ ^ window_[i]) * 0x100000001b3;
}

}  // namespace churn
