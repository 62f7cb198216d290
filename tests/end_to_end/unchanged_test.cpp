// Every sample and every test program does under the shim what it does without: same output, same exit code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {
namespace {

struct Program {
  std::string name;
  std::vector<std::string> command;
};
void PrintTo(const Program& program, std::ostream* to) { *to << program.name; }

std::string letters_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// The samples take their time, for people who watch; here they needn't.
std::vector<std::string> arguments_of(const std::string& name) {
  if (name == "mtia_train") return {"--seconds", "0", "--steps", "45", "--scale", "0.1"};
  if (name == "cuda_churn") return {"--seconds", "0"};
  return {};
}

// All that the build put into the two directories of programs that know nothing of us.
std::vector<Program> programs() {
  std::vector<Program> all;
  for (const char* directory : {TIDEMARK_TEST_SAMPLES, TIDEMARK_TEST_PROGRAMS_UNCHANGED}) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(directory, missing)) {
      const std::filesystem::path& path = entry.path();
      if (!entry.is_regular_file() || path.extension() == ".so") continue;
      if (path.extension() == ".py") {
        all.push_back({letters_of(path.filename()), {"/usr/bin/python3", "-B", path}});
      } else if ((entry.status().permissions() & std::filesystem::perms::owner_exec) != std::filesystem::perms::none) {
        std::vector<std::string> command = arguments_of(path.filename());
        command.insert(command.begin(), path);
        all.push_back({letters_of(path.filename()), std::move(command)});
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const Program& a, const Program& b) { return a.name < b.name; });
  return all;
}

// The one thing that is said unasked; a test of its own looks at the words.
Outcome without_our_out_of_memory_lines(Outcome outcome) {
  std::string rest;
  for (std::size_t begin = 0; begin < outcome.err.size();) {
    const std::size_t end = std::min(outcome.err.find('\n', begin), outcome.err.size() - 1) + 1;
    const std::string line = outcome.err.substr(begin, end - begin);
    if (line.rfind("tidemark: ", 0) != 0 || line.find(": out of memory") == std::string::npos) rest += line;
    begin = end;
  }
  outcome.err = rest;
  return outcome;
}

class Unchanged : public testing::TestWithParam<Program> {};
INSTANTIATE_TEST_SUITE_P(Is, Unchanged, testing::ValuesIn(programs()), [](const auto& one) { return one.param.name; });

TEST_P(Unchanged, UnderTheShim) {
  const Outcome alone = run(ShimWorld::natively(GetParam().command));
  for (const char* mode : {"", "count", "off"}) {
    const ShimWorld world;
    Launch launch = world.under_shim(GetParam().command);
    // By default the files of a process that had an out-of-memory stay.
    launch.environment["TIDEMARK_KEEP"] = "none";
    if (*mode != '\0') launch.environment["TIDEMARK_MODE"] = mode;

    EXPECT_EQ(without_our_out_of_memory_lines(run(launch)), alone) << "mode '" << mode << "'";
    EXPECT_EQ(world.files(), std::vector<std::string>{}) << "mode '" << mode << "'";
  }
}

// Every stack is taken: on small stacks, in signal handlers, beside forks, in threads that are cancelled.
TEST_P(Unchanged, WhileItIsRecorded) {
  const Outcome alone = run(ShimWorld::natively(GetParam().command));
  const ShimWorld world;
  Launch launch = world.under_shim(GetParam().command);
  launch.environment["TIDEMARK_KEEP"] = "none";
  launch.environment["TIDEMARK_RECORD"] = "all";

  EXPECT_EQ(without_our_out_of_memory_lines(run(launch)), alone);
  EXPECT_EQ(world.files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tidemark::test
