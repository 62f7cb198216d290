// The options of `tidemark run`: which variables they make, and what is refused.
#include "viewer/launch/run_options.hpp"

#include "tests/viewer/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Words = std::vector<std::string>;

class RunOptions : public testing::Test {
 protected:
  static Settings settings_of(const Words& words, const std::map<std::string, std::string>& present = {}) {
    const CommandSyntax syntax{.name = "run",
                               .operands = "",
                               .takes = Operands::Program,
                               .summary = "",
                               .examples = "",
                               .options = run_option_specs()};
    return shim_settings(parse_arguments(syntax, words), [&](std::string_view name) {
      const auto found = present.find(std::string{name});
      return found == present.end() ? std::nullopt : std::optional{found->second};
    });
  }
  static std::string refusal_of(const Words& words) {
    return refusal_by([&] { return settings_of(words); });
  }
};

TEST_F(RunOptions, MirrorTheVariablesOfTheLibrary) {
  EXPECT_THAT(
      settings_of({"--mode", "count", "--free=fast", "--fill", "poison", "--limit", "cuda:0=8GiB,mtia=80%", "--label",
                   "eval 1", "--alloc-conf", "large:split", "--thread", "off", "--log-file", "stderr", "p"}),
      ElementsAre(Pair("TIDEMARK_MODE", "count"), Pair("TIDEMARK_FREE", "fast"), Pair("TIDEMARK_FILL", "poison"),
                  Pair("TIDEMARK_LIMIT", "cuda:0=8GiB,mtia=80%"), Pair("TIDEMARK_LABEL", "eval 1"),
                  Pair("TIDEMARK_ALLOC_CONF", "large:split"), Pair("TIDEMARK_THREAD", "off"),
                  Pair("TIDEMARK_LOG_FILE", "stderr")));
}

TEST_F(RunOptions, SetNothingThatWasNotAskedFor) { EXPECT_THAT(settings_of({"p", "--mode", "x"}), IsEmpty()); }

TEST_F(RunOptions, QuietSilencesTheLibraryTooUnlessItsLogIsSet) {
  EXPECT_THAT(settings_of({"-q", "p"}), ElementsAre(Pair("TIDEMARK_LOG", "error")));
  EXPECT_THAT(settings_of({"-q", "--log", "debug", "p"}), ElementsAre(Pair("TIDEMARK_LOG", "debug")));
  EXPECT_THAT(settings_of({"-q", "p"}, {{"TIDEMARK_LOG", "info"}}), IsEmpty());
}

TEST_F(RunOptions, UnpoolOnlyWhatIsNotSet) {
  EXPECT_THAT(settings_of({"--unpool", "p"}, {{"XLA_PYTHON_CLIENT_ALLOCATOR", "bfc"}}),
              ElementsAre(Pair("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"), Pair("XLA_PYTHON_CLIENT_PREALLOCATE", "false")));
}

TEST_F(RunOptions, OfferUsToNvtxUnlessAnotherToolIsThere) {
  const auto settings_with = [](const Words& words, const std::optional<std::string>& tool) {
    const CommandSyntax syntax{.name = "run",
                               .operands = "",
                               .takes = Operands::Program,
                               .summary = "",
                               .examples = "",
                               .options = run_option_specs()};
    Settings settings;
    add_nvtx_setting(
        settings, parse_arguments(syntax, words), [&](std::string_view) { return tool; }, "/l/libtidemark.so");
    return settings;
  };

  EXPECT_THAT(settings_with({"--nvtx", "p"}, std::nullopt),
              ElementsAre(Pair("NVTX_INJECTION64_PATH", "/l/libtidemark.so")));
  EXPECT_THAT(settings_with({"--nvtx", "p"}, ""), ElementsAre(Pair("NVTX_INJECTION64_PATH", "/l/libtidemark.so")));
  EXPECT_THAT(settings_with({"--nvtx", "p"}, "/other.so"), IsEmpty());
  EXPECT_THAT(settings_with({"p"}, std::nullopt), IsEmpty());
}

TEST_F(RunOptions, RecordEverythingUnlessTheySayWhat) {
  EXPECT_THAT(settings_of({"--record", "p"}), ElementsAre(Pair("TIDEMARK_RECORD", "all")));
  EXPECT_THAT(settings_of({"--record=state", "--record-max-entries", "500", "p"}),
              ElementsAre(Pair("TIDEMARK_RECORD", "state"), Pair("TIDEMARK_RECORD_MAX_ENTRIES", "500")));
}

TEST_F(RunOptions, MakeFileNamesAbsolute) {
  const std::string here = fs::current_path().string();
  EXPECT_THAT(
      settings_of({"--log-file=out.txt", "--dir", ".", "p"}),
      ElementsAre(Pair("TIDEMARK_DIR", testing::StartsWith(here)), Pair("TIDEMARK_LOG_FILE", here + "/out.txt")));
}

// They were accepted, and told to be wrong only when memory had run out.
TEST_F(RunOptions, RefusePatternsOfPathsThatCannotBecomeFiles) {
  for (const char* option : {"--snapshot-on-oom", "--report"}) {
    const auto refusal = [&](const std::string& pattern) { return refusal_of({option + ("=" + pattern), "p"}); };
    EXPECT_THAT(refusal("/no/such/dir/%p.tmsnap"), HasSubstr("its directory: No such file or directory")) << option;
    EXPECT_THAT(refusal("/tmp/%z.tmsnap"), HasSubstr("allowed: %p pid, %e executable")) << option;
    EXPECT_THAT(refusal("/tmp/%"), HasSubstr("%% itself")) << option;
    EXPECT_THAT(refusal("/tmp"), HasSubstr("this is a directory")) << option;
    EXPECT_THAT(refusal("/tmp/"), HasSubstr("a file name")) << option;
    EXPECT_EQ(refusal("/tmp/%e-%p-%n-%t-%h-%%.txt"), "") << option;
    EXPECT_EQ(refusal("/tmp/%e/made-later.txt"), "") << option;
  }
  EXPECT_THAT(settings_of({"--snapshot-on-oom", "at-%n.tmsnap", "p"}),
              ElementsAre(Pair("TIDEMARK_SNAPSHOT_ON_OOM", fs::current_path().string() + "/at-%n.tmsnap")));
}

TEST_F(RunOptions, RefuseBadValuesAndSayWhatIsAllowed) {
  EXPECT_THAT(refusal_of({"--mode", "fast", "p"}), HasSubstr("allowed: cache count off"));
  EXPECT_THAT(refusal_of({"--limit", "eight", "p"}), HasSubstr("1.5GiB"));
  EXPECT_THAT(refusal_of({"--dir", "/no/such/dir", "p"}), HasSubstr("existing directory"));
  EXPECT_THAT(refusal_of({"--label", std::string(65, 'x'), "p"}), HasSubstr("64 bytes"));
  EXPECT_THAT(refusal_of({"--simulate", "tpu", "p"}), HasSubstr("mtia cuda"));
  EXPECT_THAT(refusal_of({"--record=everything", "p"}), HasSubstr("allowed: all state off"));
  EXPECT_THAT(refusal_of({"--record-max-entries", "many", "p"}), HasSubstr("1 to 1073741824"));
}

TEST_F(RunOptions, TakeEveryFormOfALimit) {
  for (const char* limit :
       {"8GiB", "512", "1.5GiB", "80%", "cuda=8G", "cuda:0=8GiB,mtia=80%", "8GiB,cuda:1=50%", "cuda=1G,cuda:15=2G"}) {
    EXPECT_EQ(refusal_of({"--limit", limit, "p"}), "") << limit;
  }
  for (const char* limit :
       {"", "0", "-1", "101%", "0%", "%", "cuda:=8G", "gpu:0=8G", "8GiB,", "=8G", "cuda:0", "8 GiB", "0.5%", "0=1GB"}) {
    EXPECT_NE(refusal_of({"--limit", limit, "p"}), "") << limit;
  }
}

// The second --limit silently replaced the first.
TEST_F(RunOptions, TakeALimitForEachDevice) {
  EXPECT_THAT(settings_of({"--limit", "8GiB", "--limit=cuda:0=1G", "--limit", "mtia=80%", "p"}),
              ElementsAre(Pair("TIDEMARK_LIMIT", "8GiB,cuda:0=1G,mtia=80%")));
}

TEST_F(RunOptions, RefuseALimitThatTakesAnotherBack) {
  EXPECT_EQ(refusal_of({"--limit", "1G", "--limit", "2G", "p"}),
            "run: --limit '2G': there is a limit of every device already; for example 8GiB,cuda:0=4GiB,mtia=80%");
  EXPECT_THAT(refusal_of({"--limit", "cuda:1=1G,cuda:1=2G", "p"}), HasSubstr("there is a limit of cuda:1 already"));
  EXPECT_THAT(refusal_of({"--limit", "cuda:1=1G", "--limit", "2G", "p"}),
              HasSubstr("'2G': it would take the limit of cuda:1 back; put the general one first"));
}

// A limit of a device that no process has was accepted, and no other.
TEST_F(RunOptions, RefuseALimitOfADeviceThatCannotBe) {
  EXPECT_EQ(
      refusal_of({"--limit", "cuda:99=1G", "p"}),
      "run: --limit 'cuda:99=1G': N of cuda:N is the program's own number of the device, from 0 to 15; for example "
      "8GiB,cuda:0=4GiB,mtia=80%");
  EXPECT_THAT(refusal_of({"--limit", "0=1G", "p"}), HasSubstr("'0' is no device: cuda, mtia, cuda:N or mtia:N"));
}

TEST_F(RunOptions, RefuseALogThatCannotBeWritten) {
  EXPECT_THAT(refusal_of({"--log-file", "/no/such/dir/log", "p"}), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal_of({"--log-file", "/tmp", "p"}), HasSubstr("this is a directory"));
  EXPECT_THAT(refusal_of({"--log-file", "/proc/version/log", "p"}), HasSubstr("Not a directory"));
}

TEST_F(RunOptions, NameTheKeysOfTheCachesSettings) {
  EXPECT_EQ(refusal_of({"--alloc-conf", "large:split,roundup_power2_divisions:[256:1,512:2,>:4],backend:native", "p"}),
            "");
  EXPECT_THAT(refusal_of({"--alloc-conf", "max_split_size_mb:64, max_idle:3", "p"}),
              testing::AllOf(HasSubstr("allowed: max_split_size_mb, "), HasSubstr("max_idle_s (no key 'max_idle')")));
}

TEST_F(RunOptions, PutTheSimulatorInFrontOnlyWhenAsked) {
  const auto environment = [](std::string_view name) {
    return name == "LD_LIBRARY_PATH" ? std::optional<std::string>{"/mine"} : std::nullopt;
  };
  EXPECT_THAT(loader_settings(environment, "/l/libtidemark.so", "", {}),
              ElementsAre(Pair("LD_PRELOAD", "/l/libtidemark.so")));
  EXPECT_THAT(loader_settings(environment, "/l/libtidemark.so", "/sim", {}),
              ElementsAre(Pair("LD_LIBRARY_PATH", "/sim:/mine"), Pair("LD_PRELOAD", "/l/libtidemark.so")));
}

}  // namespace
}  // namespace tidemark::viewer
