// Code that nothing describes: hand-written, or made while the program runs.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "tests/stacks/walks.hpp"

namespace tidemark::stacks {
namespace {

using Call = void (*)(void (*)(void*), void*);

// The innermost frame of each is in the lambda, the second in the code without tables.
Taken take_through(Call call) {
  Taken taken;
  call([](void* data) { *static_cast<Taken*>(data) = take(); }, &taken);
  return taken;
}

// Runs with rbp as a frame pointer whatever this file is compiled with.
__attribute__((noinline, optimize("no-omit-frame-pointer"))) Taken take_with_fp_through(Call call, Chain& chain) {
  TIDEMARK_NOTE_RETURN(chain);
  const Taken taken = take_through(call);
  asm volatile("" ::: "memory");
  return taken;
}

TEST(CodeWithoutTables, IsWalkedByItsFramePointer) {
  Chain chain{};

  const Taken taken = take_with_fp_through(&tidemark_call_with_fp, chain);

  EXPECT_TRUE(goes_through(taken.frames(), chain));
  EXPECT_EQ(taken.ending(), Ending::Outermost);
}

TEST(CodeWithoutTables, MayHideItsCallerButInventsNone) {
  const std::vector<std::uintptr_t> real = take_by_run_time();
  for (const Call call : {&tidemark_call_without_fp, &tidemark_call_with_other_rbp}) {
    Chain chain{};
    const Taken taken = take_with_fp_through(call, chain);

    ASSERT_GE(taken.frames().size(), 2u);
    for (std::size_t i = 4; i < taken.frames().size(); ++i) {  // the frames of this test come first
      EXPECT_THAT(real, testing::Contains(taken.frames()[i])) << i;
    }
  }
}

// What a compiler at run time writes: in no object of the loader's.
class MadeAtRunTime : public testing::Test {
 protected:
  MadeAtRunTime()
      : memory_(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~MadeAtRunTime() override { munmap(memory_, 4096); }

  template <std::size_t Size>
  Call code(const unsigned char (&bytes)[Size]) {
    std::memcpy(memory_, bytes, Size);
    return reinterpret_cast<Call>(memory_);
  }

 private:
  void* memory_;
};

TEST_F(MadeAtRunTime, IsWalkedByItsFramePointer) {
  // push %rbp; mov %rsp,%rbp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; pop %rbp; ret
  const Call call = code({0x55, 0x48, 0x89, 0xE5, 0x48, 0x89, 0xF8, 0x48, 0x89, 0xF7, 0xFF, 0xD0, 0x5D, 0xC3});
  Chain chain{};

  const Taken taken = take_with_fp_through(call, chain);

  EXPECT_TRUE(goes_through(taken.frames(), chain));
  EXPECT_EQ(taken.ending(), Ending::Outermost);
}

TEST_F(MadeAtRunTime, IsTheEndWhereItUsesRbpForANumber) {
  // push %rbp; mov %rdi,%rax; mov %rsi,%rdi; mov $0x1234567,%rbp; call *%rax; pop %rbp; ret
  const Call call = code(
      {0x55, 0x48, 0x89, 0xF8, 0x48, 0x89, 0xF7, 0x48, 0xC7, 0xC5, 0x67, 0x45, 0x23, 0x01, 0xFF, 0xD0, 0x5D, 0xC3});

  const Taken taken = take_through(call);

  EXPECT_EQ(taken.ending(), Ending::Lost);
  const auto begin = reinterpret_cast<std::uintptr_t>(call);
  EXPECT_EQ(taken.frames().back(), begin + 16);
}

}  // namespace
}  // namespace tidemark::stacks
