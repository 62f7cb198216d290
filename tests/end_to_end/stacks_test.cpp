// Who allocated this? The stacks of a recording, named as a user sees them: in programs with and without frame
// pointers, through inlined functions, in stripped ones, in libraries that are gone, in Python, while they live and
// afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct NamedFrame {
  std::string name;
  std::string file;
  int line = 0;
};
void PrintTo(const NamedFrame& frame, std::ostream* to) {
  *to << frame.name << " (" << frame.file << ':' << frame.line << ')';
}

class StacksTest : public testing::Test {
 protected:
  // Of what it holds, recorded from the start: as many lines as there are ways, then "holding".
  std::vector<int> start(std::vector<std::string> command, std::size_t ways, const std::string& stacks = "all") {
    Launch launch = world_.under_shim(command);
    launch.environment["TIDEMARK_RECORD"] = "all";
    launch.environment["TIDEMARK_RECORD_STACKS"] = stacks;
    launch.environment["TIDEMARK_KEEP"] = "all";
    program_.emplace(launch);
    std::vector<int> lines;
    for (std::size_t i = 0; i < ways; ++i) {
      lines.push_back(std::atoi(program_->read_line().c_str()));
    }
    EXPECT_EQ(program_->read_line(), "holding") << program_->err();
    return lines;
  }

  [[nodiscard]] json report() const {
    const Outcome outcome = world_.tidemark({"report", std::to_string(program_->pid()), "--json", "--top", "50"});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    notes_ = outcome.err;
    return json::parse(outcome.out);
  }
  // Of the stack that holds so many bytes.
  [[nodiscard]] std::vector<NamedFrame> stack_of(const json& report, int requested) const {
    std::vector<NamedFrame> frames;
    for (const json& stack : report.at("devices").at(0).at("by_stack")) {
      if (stack.at("requested_bytes") == requested) {
        for (const json& frame : stack.at("frames")) {
          frames.push_back({.name = frame.at("name"),
                            .file = frame.at("filename").is_null() ? "" : frame.at("filename").get<std::string>(),
                            .line = frame.at("line").is_null() ? 0 : frame.at("line").get<int>()});
        }
      }
    }
    EXPECT_FALSE(frames.empty()) << "nothing of " << requested << " bytes in " << report.dump(1);
    return frames.empty() ? std::vector<NamedFrame>(3) : frames;
  }

  static void expect_frame(const NamedFrame& frame, const std::string& name, const std::string& file, int line) {
    EXPECT_THAT(frame.name, HasSubstr(name));
    EXPECT_THAT(frame.file, EndsWith(file));
    EXPECT_EQ(frame.line, line) << testing::PrintToString(frame);
  }

  // A copy, in a directory of its own, that a command of the shell has been at.
  std::string changed_copy(const std::string& file, const std::string& command) {
    const fs::path directory = fs::path{world_.directory()} / "files";
    fs::create_directories(directory);
    fs::copy_file(file, directory / "copy", fs::copy_options::overwrite_existing);
    const std::string all = "cd '" + directory.string() + "' && " + command;
    EXPECT_EQ(std::system(all.c_str()), 0) << all;  // NOLINT(cert-env33-c)
    return (directory / "copy").string();
  }

  const ShimWorld world_;
  std::optional<Conversation> program_;
  mutable std::string notes_;
};

class EachBuild : public StacksTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, EachBuild,
                         testing::Values("mtia_stacks_omit_frame_pointer", "mtia_stacks_no_omit_frame_pointer"));

TEST_P(EachBuild, NamesFunctionFileAndLine) {
  const std::vector<int> lines = start({test_program(GetParam()), "deep"}, 1);

  const std::vector<NamedFrame> stack = stack_of(report(), 1000);

  expect_frame(stack[0], "stacks::allocate(", "mtia_stacks.cpp", lines[0]);
  EXPECT_THAT(stack[1].name, HasSubstr("stacks::call_deeper("));
  EXPECT_THAT(stack, Contains(testing::Field(&NamedFrame::name, "main")));
}

TEST_P(EachBuild, NamesWhatWasInlined) {
  const std::vector<int> lines = start({test_program(GetParam()), "inlined"}, 1);

  const std::vector<NamedFrame> stack = stack_of(report(), 2000);

  expect_frame(stack[0], "stacks::allocate_inline(", "mtia_stacks.cpp", lines[0]);
  EXPECT_THAT(stack[1].name, HasSubstr("stacks::call_inlined("));
}

TEST_P(EachBuild, NamesTheCallsOfAThread) {
  const std::vector<int> lines = start({test_program(GetParam()), "thread"}, 1);

  const std::vector<NamedFrame> stack = stack_of(report(), 3000);

  expect_frame(stack[0], "stacks::allocate(", "mtia_stacks.cpp", lines[0]);
  EXPECT_THAT(stack, Contains(testing::Field(&NamedFrame::name, HasSubstr("allocate_in_thread"))));
}

TEST_P(EachBuild, SaysWhereAStackIsDeeperThanWhatIsKept) {
  start({test_program(GetParam()), "deeper"}, 1);

  EXPECT_EQ(stack_of(report(), 1000).back().name, "(more calls)");
}

TEST_F(StacksTest, NameALibraryThatIsClosedAgain) {
  const std::string library = test_program("libmtia_stacks_library.so");
  const std::vector<int> lines = start({test_program("mtia_stacks_omit_frame_pointer"), library}, 1);

  const std::vector<NamedFrame> stack = stack_of(report(), 4000);

  expect_frame(stack[0], "stacks::allocate_for(", "mtia_stacks_library.cpp", lines[0]);
  EXPECT_EQ(stack[1].name, "allocate_in_library");
}

TEST_F(StacksTest, NameAStrippedProgramWithDebugInformationBesideIt) {
  const std::string program = changed_copy(
      test_program("mtia_stacks_omit_frame_pointer"),
      "objcopy --only-keep-debug copy copy.debug && strip copy && objcopy --add-gnu-debuglink=copy.debug copy");
  const std::vector<int> lines = start({program, "deep"}, 1);

  expect_frame(stack_of(report(), 1000)[0], "stacks::allocate(", "mtia_stacks.cpp", lines[0]);
}

TEST_F(StacksTest, SayWhereInAStrippedProgramWithoutAny) {
  start({changed_copy(test_program("mtia_stacks_omit_frame_pointer"), "strip copy"), "deep"}, 1);

  const std::vector<NamedFrame> stack = stack_of(report(), 1000);

  EXPECT_THAT(stack[0].name, testing::StartsWith("copy+0x"));
}

TEST_F(StacksTest, AreThereAfterAKill) {
  const std::vector<int> lines = start({test_program("mtia_stacks_omit_frame_pointer"), "deep"}, 1);

  program_->end_by(SIGKILL);

  expect_frame(stack_of(report(), 1000)[0], "stacks::allocate(", "mtia_stacks.cpp", lines[0]);
}

TEST_F(StacksTest, AreInASnapshotThatPythonReads) {
  const std::vector<int> lines = start({test_program("mtia_stacks_omit_frame_pointer"), "deep"}, 1);
  const std::string file = world_.directory() + "/stacks.pickle";

  const Outcome saved = world_.tidemark({"snapshot", std::to_string(program_->pid()), "-o", file});

  EXPECT_EQ(saved.exit_code, 0) << describe(saved);
  const Outcome read = run({.command = {"/usr/bin/python3", "-c",
                                        "import pickle, sys\n"
                                        "snapshot = pickle.load(open(sys.argv[1], 'rb'))\n"
                                        "for segment in snapshot['segments']:\n"
                                        "  for block in segment['blocks']:\n"
                                        "    if block['state'] == 'active_allocated':\n"
                                        "      print(block['frames'][0]['name'], block['frames'][0]['line'])\n",
                                        file}});
  fs::remove(file);
  EXPECT_EQ(read.out, "stacks::allocate(unsigned long) " + std::to_string(lines[0]) + "\n") << describe(read);
}

TEST_F(StacksTest, HavePythonsFramesWhereTheThreadHasTheGil) {
  start({"/usr/bin/python3", "-B", test_program("mtia_stacks.py")}, 0);

  const json found = report();

  const std::vector<NamedFrame> weights = stack_of(found, 5000);
  const auto named = [](const char* name) { return testing::Field(&NamedFrame::name, name); };
  EXPECT_THAT(weights, Contains(named("allocate")));
  EXPECT_THAT(weights, Contains(named("load_weights")));
  EXPECT_EQ(weights.back().name, "<module>");
  EXPECT_THAT(weights.back().file, EndsWith("mtia_stacks.py"));
  EXPECT_GT(weights.back().line, 20);
  EXPECT_THAT(stack_of(found, 6000), Contains(named("forward")));
  EXPECT_THAT(stack_of(found, 7000), testing::Not(Contains(named("allocate")))) << "taken without the GIL";
  EXPECT_THAT(stack_of(found, 8000), Contains(named("<lambda>")));
}

TEST_F(StacksTest, AreOfTheKindThatWasAskedFor) {
  start({"/usr/bin/python3", "-B", test_program("mtia_stacks.py")}, 0, "python");

  const std::vector<NamedFrame> weights = stack_of(report(), 5000);

  EXPECT_EQ(weights.front().name, "allocate");
  EXPECT_EQ(weights.size(), 3U) << testing::PrintToString(weights);
}

TEST_F(StacksTest, BeginWithARecordingThatIsSwitchedOn) {
  Launch launch = world_.under_shim({test_program("mtia_stacks_omit_frame_pointer"), "deep"});
  program_.emplace(launch);
  program_->read_line();
  EXPECT_EQ(program_->read_line(), "holding");

  const Outcome begun = world_.tidemark({"record", "start", std::to_string(program_->pid())});

  EXPECT_EQ(begun.exit_code, 0) << describe(begun);
  const json recording = world_.process(program_->pid()).at("recording");
  EXPECT_EQ(recording.at("stacks"), "all");
  EXPECT_EQ(stack_of(report(), 1000)[0].name, "(allocated before the recording began)");
}

// Issue 6: one place of a hundred leaks, in a service that nobody can restart.
TEST_F(StacksTest, NameTheOnePlaceThatLeaks) {
  program_.emplace(world_.under_shim({test_program("mtia_leaks")}));
  ASSERT_EQ(program_->read_line(), "serving") << program_->err();

  const Outcome found = world_.tidemark({"leaks", std::to_string(program_->pid()), "--for", "3s", "--json"});

  ASSERT_EQ(found.exit_code, 0) << describe(found);
  const json grew = json::parse(found.out).at("devices").at(0).at("grew");
  ASSERT_EQ(grew.size(), 1U) << grew.dump(1);
  EXPECT_THAT(grew[0].at("frames").at(0).at("name").get<std::string>(), HasSubstr("service::leak<42"));
  EXPECT_GT(grew[0].at("grew_blocks"), 1);
  EXPECT_EQ(world_.process(program_->pid()).at("recording"), nullptr) << "as it was before";
}

}  // namespace
}  // namespace tidemark::test
