// What of a stack is told.
#include "viewer/history/short_stacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

using testing::ElementsAre;

using Names = std::vector<std::string>;

Names shortened(const Names& names, const std::string& file = {}) {
  MemorySnapshot snapshot;
  snapshot.stacks.resize(2);
  for (const std::string& name : names) {
    snapshot.stacks[1].push_back({.name = name, .file = file});
  }
  shorten_stacks(snapshot);
  EXPECT_TRUE(snapshot.stacks[0].empty());
  Names left;
  for (const Frame& frame : snapshot.stacks[1]) {
    left.push_back(frame.name);
  }
  return left;
}

TEST(ShortStacks, BeginWithTheFunctionThatTheProgramCalled) {
  EXPECT_THAT(
      shortened({"libcuda.so.1+0x1000", "cuMemAlloc_v2", "libcudart.so.13+0x2000", "cudaMalloc", "load", "main"}),
      ElementsAre("cudaMalloc", "load", "main"));
  EXPECT_THAT(shortened({"cuMemAlloc_v2", "load"}), ElementsAre("cuMemAlloc_v2", "load"));
  EXPECT_THAT(shortened({"load", "main"}), ElementsAre("load", "main"));
  EXPECT_THAT(shortened({"cudaError cudaMalloc<float>(float**, unsigned long)", "load"}),
              ElementsAre("cudaError cudaMalloc<float>(float**, unsigned long)", "load"))
      << "a template of the toolkit's header is the program's";
}

TEST(ShortStacks, EndWithTheProgramsOwn) {
  EXPECT_THAT(shortened({"load", "main", "__libc_start_call_main", "__libc_start_main_impl", "_start"}),
              ElementsAre("load", "main"));
  EXPECT_THAT(shortened({"load", "main", "libc.so.6+0x2724a", "__libc_start_main", "_start"}),
              ElementsAre("load", "main"))
      << "without the C library's debug information";
  EXPECT_THAT(shortened({"load", "work", "start_thread", "clone3"}), ElementsAre("load", "work"));
  EXPECT_THAT(shortened({"compare", "libc.so.6+0x42000", "load", "main"}),
              ElementsAre("compare", "libc.so.6+0x42000", "load", "main"))
      << "one in the middle";
  EXPECT_THAT(shortened({"load", std::string{kMoreCalls}}), ElementsAre("load", kMoreCalls));
}

TEST(ShortStacks, KeepOneFrame) {
  EXPECT_THAT(shortened({"_start"}), ElementsAre("_start"));
  EXPECT_THAT(shortened({"cudaMalloc"}), ElementsAre("cudaMalloc"));
  EXPECT_THAT(shortened({std::string{kBeforeRecording}}), ElementsAre(kBeforeRecording));
  EXPECT_THAT(shortened({}), ElementsAre());
}

TEST(ShortStacks, HaveOneFrameForAnInterpreterWhoseCallsAreNotKnown) {
  EXPECT_THAT(shortened({"cudaMalloc", "ffi_call", "_PyEval_EvalFrameDefault", "_PyEval_Vector", "main", "_start"}),
              ElementsAre("cudaMalloc", "ffi_call", kPythonCalls));
  EXPECT_THAT(shortened({"alloc", "_PyEval_EvalFrameDefault", "train"}, "train.py"),
              ElementsAre("alloc", "_PyEval_EvalFrameDefault", "train"))
      << "as PyTorch writes them: both";
}

}  // namespace
}  // namespace tidemark::viewer
