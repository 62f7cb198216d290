// Eight threads on two devices allocate, write, read back and free, each with its own sizes and its own pattern.
#include <mtia.h>

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

void check_and_free(const Block& block) {
  std::vector<unsigned char> copy(block.size);
  expect(mtiaMemcpy(copy.data(), block.data, block.size, mtiaMemcpyDeviceToHost) == MTIA_SUCCESS);
  for (const unsigned char byte : copy) expect(byte == block.pattern);
  expect(mtiaFree(block.data) == MTIA_SUCCESS);
}

void work(unsigned number) {
  std::mt19937 random{number};
  std::vector<Block> blocks;
  expect(mtiaSetDevice(static_cast<int>(number % 2)) == MTIA_SUCCESS);
  for (int round = 0; round < 300; ++round) {
    Block block{nullptr, std::size_t{1} + random() % (std::size_t{1} << random() % 18),
                static_cast<unsigned char>(random())};
    expect(mtiaMalloc(&block.data, block.size) == MTIA_SUCCESS);
    expect(mtiaMemset(block.data, block.pattern, block.size) == MTIA_SUCCESS);
    blocks.push_back(block);
    if (blocks.size() > 10) {
      const std::size_t victim = random() % blocks.size();
      check_and_free(blocks[victim]);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  for (const Block& block : blocks) check_and_free(block);
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 8; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  std::printf("%d mistakes\n", wrong.load());
  return wrong == 0 ? 0 : 1;
}
