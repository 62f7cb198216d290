// A preload is inherited by shells, interpreters and compilers: they must not notice it.
#include <gtest/gtest.h>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {
namespace {

struct Bystander {
  std::string name;
  std::vector<std::string> command;
  std::string input{};
};

void PrintTo(const Bystander& bystander, std::ostream* to) { *to << bystander.name; }

class Bystanders : public testing::TestWithParam<Bystander> {
 protected:
  [[nodiscard]] Launch launch(bool with_shim) const {
    Launch launch = with_shim ? world_.under_shim(GetParam().command) : ShimWorld::natively(GetParam().command);
    launch.input = GetParam().input;
    launch.environment["TIDEMARK_DIR"] = world_.directory();
    return launch;
  }

  const ShimWorld world_;
};

INSTANTIATE_TEST_SUITE_P(
    Of, Bystanders,
    testing::Values(
        Bystander{"True", {"/bin/true"}}, Bystander{"False", {"/bin/false"}},
        Bystander{"Bash", {"bash", "-c", "echo $((6 * 7)); exit 5"}},
        Bystander{"BashPipe", {"bash", "-c", "printf 'b\\na\\n' | sort | head -n 1"}},
        Bystander{"Python", {"/usr/bin/python3", "-c", "import ctypes, threading; print('hello')"}},
        Bystander{"PythonSubprocess",
                  {"/usr/bin/python3", "-c", "import subprocess; print(subprocess.check_output(['echo', 'hi']))"}},
        Bystander{"Git", {"git", "--version"}},
        Bystander{"Compiler", {"g++", "-x", "c++", "-O1", "-c", "-o", "/dev/null", "-"}, "int main() { return 0; }\n"},
        Bystander{"CompilerError", {"g++", "-x", "c++", "-c", "-o", "/dev/null", "-"}, "int main() { return }\n"},
        // Seen from inside while the library is mapped: no file of ours, no thread beside main.
        Bystander{"DirectoryInside", {"bash", "-c", "ls -A $TIDEMARK_DIR"}},
        Bystander{"ThreadsInside",
                  {"/usr/bin/python3", "-c", "import os; print(os.listdir('/proc/self/task').__len__())"}},
        Bystander{
            "HandlersInside",
            {"/usr/bin/python3", "-c", "print([l for l in open('/proc/self/status') if l.startswith('Sig')][2:])"}},
        Bystander{"FilesInside", {"/usr/bin/python3", "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"}}),
    [](const auto& one) { return one.param.name; });

TEST_P(Bystanders, DoNotNotice) {
  EXPECT_EQ(run(launch(true)), run(launch(false)));
  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

TEST(BystanderTest, ReallyHasTheLibrary) {
  const ShimWorld world;

  const Outcome outcome = run(world.under_shim({"grep", "-c", "libtidemark.so", "/proc/self/maps"}));

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
}

}  // namespace
}  // namespace tidemark::test
