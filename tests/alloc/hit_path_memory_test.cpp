// A hit and its free ask the host for nothing: no memory, no pages. Counted where the libc would be asked.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "tests/alloc/cache_rig.hpp"

namespace {

std::atomic<unsigned> asked{0};

}  // namespace

// glibc's own under their other names; ours come first in this program.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) noexcept {
  ++asked;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++asked;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ++asked;
  return __libc_realloc(old, size);
}
void free(void* memory) noexcept {
  asked += memory == nullptr ? 0 : 1;
  __libc_free(memory);
}
void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  ++asked;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
void* mremap(void* old, std::size_t old_size, std::size_t size, int flags, ...) noexcept {
  ++asked;
  return reinterpret_cast<void*>(::syscall(SYS_mremap, old, old_size, size, flags, nullptr));
}
}

namespace tidemark::test {
namespace {

class HitPath : public testing::Test {
 protected:
  HitPath() : cache_(device_, nullptr, map_, Policy::cuda_default()) {}

  // Everything that will be held, once, so that every table has its size.
  void hold(const std::vector<Bytes>& sizes) {
    std::vector<DevicePtr> held;
    held.reserve(sizes.size());
    for (const Bytes size : sizes) {
      held.push_back(cache_.allocate(kContext, size).value());
    }
    for (const DevicePtr ptr : held) {
      EXPECT_TRUE(cache_.release(ptr).ok());
    }
  }

  FakeUpstream device_;
  alloc::SegmentMap map_;
  alloc::DeviceCache cache_;
};

TEST_F(HitPath, AsksTheHostForNothing) {
  const std::vector<Bytes> sizes = {1_B, 700_B, 4_KiB, 100_KiB, 1_MiB, 3_MiB, 20_MiB, 512_B};
  hold(sizes);
  std::vector<DevicePtr> held(sizes.size());
  const std::uint64_t misses = cache_.counters()[BasisWord::misses];

  const unsigned before = asked;
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      held[i] = cache_.allocate(kContext, sizes[i]).value();
    }
    for (const DevicePtr ptr : held) {
      (void)cache_.release(ptr);
    }
  }
  const unsigned after = asked;

  EXPECT_EQ(after, before);
  EXPECT_EQ(cache_.counters()[BasisWord::misses], misses) << "all of them were hits";
}

TEST_F(HitPath, IsNotWhereAMissGoes) {
  const unsigned before = asked;

  hold({3_MiB});

  EXPECT_GT(asked, before) << "what counts, counts";
}

}  // namespace
}  // namespace tidemark::test
