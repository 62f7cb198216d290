// What NVIDIA's own static runtime asks a driver for is answered as the driver alone would, but for the functions we
// stand in front of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {
namespace {

// One line of cuda_answers.
struct Reply {
  std::string question;  // "cuMemAlloc@3020/0"
  std::string code;      // the resolver's two
  std::string file;
  std::string function;
};

std::vector<Reply> parse(const std::string& text) {
  std::vector<Reply> replies;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    Reply reply;
    std::string code;
    std::string status;
    words >> reply.question >> code >> status >> reply.file >> reply.function;
    reply.code = code + " " + status;
    replies.push_back(reply);
  }
  return replies;
}

// Every question once, as cuda_answers reads them.
std::string questions_of_static_runtime() {
  const Outcome asked = run(
      {.command = {TIDEMARK_TEST_STATIC_ASKER}, .environment = {{"LD_LIBRARY_PATH", TIDEMARK_TEST_RECORDING_DRIVER}}});
  EXPECT_EQ(asked.exit_code, 1) << describe(asked);  // the recording driver has no device
  std::set<std::string> questions;
  std::istringstream lines{asked.out};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = line.find(' ');
    const std::size_t version = line.find('@');
    const std::size_t flags = line.rfind('/');
    if (line.starts_with("v2 ") && version != std::string::npos && flags != std::string::npos) {
      questions.insert(line.substr(name + 1, version - name - 1) + " " + line.substr(version + 1, flags - version - 1) +
                       " " + line.substr(flags + 1) + "\n");
    }
  }
  std::string all;
  for (const std::string& question : questions) all += question;
  return all;
}

TEST(Door, AnswersTheStaticRuntimeAsTheDriverWouldButForOurs) {
  const std::string questions = questions_of_static_runtime();
  ASSERT_GT(std::ranges::count(questions, '\n'), 300);
  const ShimWorld world;
  const std::string program = TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_answers";
  Launch native = ShimWorld::natively({program});
  Launch shimmed = world.under_shim({program});
  native.input = shimmed.input = questions;

  const std::vector<Reply> theirs = parse(run(native).out);
  const std::vector<Reply> ours = parse(run(shimmed).out);

  ASSERT_EQ(theirs.size(), ours.size());
  ASSERT_EQ(static_cast<std::ptrdiff_t>(theirs.size()), std::ranges::count(questions, '\n'));
  std::set<std::string> replaced;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(ours[i].question, theirs[i].question);
    EXPECT_EQ(ours[i].code, theirs[i].code) << ours[i].question;
    EXPECT_EQ(ours[i].function, theirs[i].function) << ours[i].question;  // the very same symbol, version for version
    if (ours[i].file != theirs[i].file) {
      EXPECT_EQ(ours[i].file, "libtidemark.so") << ours[i].question;
      replaced.insert(ours[i].function);
    }
  }
  for (const char* name : {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemGetInfo_v2", "cuMemAllocAsync", "cuMemFreeAsync",
                           "cuMemAllocManaged", "cuMemHostAlloc"}) {
    EXPECT_THAT(replaced, testing::Contains(name));
  }
  for (const char* name : {"cuMemAlloc", "cuMemFree", "cuMemcpyDtoH_v2", "cuLaunchKernel"}) {
    EXPECT_THAT(replaced, testing::Not(testing::Contains(name)));
  }
}

// Not the one of the simulator, which takes any driver.
TEST(Door, IsSaidToBeShutForTheStaticRuntimeOnTheSimulator) {
  const ShimWorld world;
  const std::string refused = "has NVIDIA's CUDA runtime linked into it, which accepts no driver but NVIDIA's own";

  EXPECT_THAT(world.tidemark({"doctor", "--", TIDEMARK_TEST_STATIC_ASKER}).out, testing::HasSubstr(refused));
  EXPECT_THAT(world.tidemark({"run", "--simulate", "cuda", "--", TIDEMARK_TEST_STATIC_ASKER}).err,
              testing::HasSubstr(refused));
  EXPECT_THAT(world.tidemark({"doctor", "--", test_program("guest_cuda_static")}).out,
              testing::Not(testing::HasSubstr(refused)));
}

}  // namespace
}  // namespace tidemark::test
