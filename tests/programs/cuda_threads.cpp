// Eight threads on two devices allocate, write, read back and free, each with its own sizes, pattern and stream.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

std::atomic<int> wrong{0};

struct Block {
  void* data;
  std::size_t size;
  unsigned char pattern;
};

void expect(bool good) { wrong += good ? 0 : 1; }

void check_and_free(const Block& block, cudaStream_t stream) {
  std::vector<unsigned char> copy(block.size);
  expect(cudaMemcpyAsync(copy.data(), block.data, block.size, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  expect(cudaStreamSynchronize(stream) == cudaSuccess);
  for (const unsigned char byte : copy) expect(byte == block.pattern);
  expect(cudaFree(block.data) == cudaSuccess);
}

void work(unsigned number) {
  std::mt19937 random{number};
  std::vector<Block> blocks;
  cudaStream_t stream = nullptr;
  expect(cudaSetDevice(static_cast<int>(number % 2)) == cudaSuccess);
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  for (int round = 0; round < 300; ++round) {
    Block block{nullptr, std::size_t{1} + random() % (std::size_t{1} << random() % 18),
                static_cast<unsigned char>(random())};
    expect(cudaMalloc(&block.data, block.size) == cudaSuccess);
    expect(cudaMemsetAsync(block.data, block.pattern, block.size, stream) == cudaSuccess);
    blocks.push_back(block);
    if (blocks.size() > 10) {
      const std::size_t victim = random() % blocks.size();
      check_and_free(blocks[victim], stream);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  for (const Block& block : blocks) check_and_free(block, stream);
  expect(cudaStreamDestroy(stream) == cudaSuccess);
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 8; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  std::printf("%d mistakes\n", wrong.load());
  return wrong == 0 ? 0 : 1;
}
