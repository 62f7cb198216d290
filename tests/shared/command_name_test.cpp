// What a process is called: its executable's name, for interpreters with the script.
#include "shared/segment/command_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/segment/own_identity.hpp"

namespace tidemark::segment {
namespace {

std::string name_of(const std::vector<std::string>& arguments, const std::string& executable = "the-executable") {
  std::string joined;
  for (const std::string& argument : arguments) {
    joined += argument;
    joined += '\0';
  }
  return std::string{command_name(joined, executable).view()};
}

TEST(CommandName, IsTheExecutablesName) {
  EXPECT_EQ(name_of({"./build/train", "--key", "s3cret"}), "train");
  EXPECT_EQ(name_of({"-zsh"}), "zsh");
  EXPECT_EQ(name_of({}), "the-executable");
}

TEST(CommandName, NamesTheScriptOfAnInterpreter) {
  EXPECT_EQ(name_of({"python3", "train.py"}), "python3 train.py");
  EXPECT_EQ(name_of({"/usr/bin/python3.11", "-u", "-W", "ignore", "/home/a/train.py", "--key", "s3cret"}),
            "python3.11 train.py");
  EXPECT_EQ(name_of({"/bin/bash", "/opt/run.sh", "x"}), "bash run.sh");
  EXPECT_EQ(name_of({"java", "-cp", "/a:/b", "-jar", "/opt/server.jar"}), "java -jar server.jar");
  EXPECT_EQ(name_of({"pythonic-tool", "train.py"}), "pythonic-tool");
}

TEST(CommandName, NamesTheModule) {
  EXPECT_EQ(name_of({"python3", "-m", "torch.distributed.run", "--nproc", "2"}), "python3 -m torch.distributed.run");
}

TEST(CommandName, NeverShowsAProgramsText) {
  EXPECT_EQ(name_of({"python3", "-c", "password = 's3cret'"}), "python3 -c");
  EXPECT_EQ(name_of({"bash", "-c", "curl -u me:s3cret"}), "bash -c");
}

TEST(CommandName, IsCutWhereItIsLong) {
  const std::string name = name_of({"python3", std::string(4000, 'x') + ".py"});

  EXPECT_EQ(name, "python3 " + std::string(183, 'x'));
}

TEST(ProcStat, IsReadFromTheLastParenthesis) {
  const StatFields fields = parse_proc_stat(
      "4711 (a) b) (c) T 1 4711 4711 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 8675309 1000 20 18446744073709551615\n");

  EXPECT_EQ(fields.state, 'T');
  EXPECT_EQ(fields.parent_pid, 1u);
  EXPECT_EQ(fields.start_ticks, 8675309u);
}

TEST(ProcStat, OfNonsenseIsUnknown) {
  for (const char* contents : {"", "4711", "4711 (a)", "4711 (a) ", "()"}) {
    EXPECT_EQ(parse_proc_stat(contents).start_ticks, 0u) << contents;
  }
}

}  // namespace
}  // namespace tidemark::segment
