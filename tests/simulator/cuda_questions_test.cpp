// What the simulated runtime asks a driver for, in which order and by which door, beside what NVIDIA's own asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

struct Questions {
  std::vector<std::string> in_order;  // "DOOR NAME@VERSION/FLAGS"
  std::string answer;                 // what the program printed of its call
  std::string after;                  // and after that
};

// The first call of a runtime on a driver that records what it is asked.
Questions questions_of(const std::string& runtime) {
  const auto outcome = tidemark::test::run(
      {.command = {CUDA_ASKING_PROGRAM, runtime}, .environment = {{"LD_LIBRARY_PATH", CUDA_RECORDING_DRIVER}}});
  EXPECT_EQ(outcome.exit_code, 0) << tidemark::test::describe(outcome);
  Questions questions;
  std::istringstream lines{outcome.out};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("code ")) {
      questions.answer = line;
    } else if (!questions.answer.empty()) {
      questions.after += line;
    } else {
      questions.in_order.push_back(line);
    }
  }
  return questions;
}

std::set<std::string> without_doors(const std::vector<std::string>& questions) {
  std::set<std::string> names;
  for (const std::string& question : questions) names.insert(question.substr(question.find(' ') + 1));
  return names;
}

TEST(CudaQuestions, BeginAsThoseOfTheRealRuntimeAndGoOnThroughTheResolverItWasGiven) {
  const Questions questions = questions_of(CUDA_SIMULATED_RUNTIME);

  ASSERT_GT(questions.in_order.size(), 50u);
  const auto fourth = questions.in_order.begin() + 4;
  EXPECT_THAT(std::vector(questions.in_order.begin(), fourth),
              ElementsAre("exported @0/0", "exported cuInit@2000/0", "exported cuGetProcAddress@11030/0",
                          "exported cuGetProcAddress@12000/0"));
  EXPECT_THAT(std::vector(fourth, questions.in_order.end()), Each(StartsWith("v2 ")));
  EXPECT_THAT(questions.in_order, testing::Contains("v2 cuMemAlloc@3020/0"));
  EXPECT_THAT(questions.in_order, testing::Contains("v2 cuMemcpyHtoDAsync@7000/2"));
}

TEST(CudaQuestions, AreAllAskedAtTheFirstCall) {
  const Questions questions = questions_of(CUDA_SIMULATED_RUNTIME);

  EXPECT_EQ(questions.answer, "code 100, 0 devices, last error 100");
  EXPECT_EQ(questions.after, "end");
}

TEST(CudaQuestions, AreAllAskedByTheRealRuntimeToo) {
  const std::string real = CUDA_TOOLKIT_RUNTIME;
  if (real.empty()) GTEST_SKIP() << "no runtime in this toolkit";
  const std::set<std::string> theirs = without_doors(questions_of(real).in_order);
  if (theirs.size() < 100) GTEST_SKIP() << "this toolkit's runtime asks otherwise";

  for (const std::string& question : without_doors(questions_of(CUDA_SIMULATED_RUNTIME).in_order)) {
    EXPECT_THAT(theirs, testing::Contains(question));
  }
}

}  // namespace
