// What `run` does before the program starts: the environment it makes, and what it finds out about the program.
#include "viewer/exit_code.hpp"
#include "viewer/launch/elf_facts.hpp"
#include "viewer/launch/places.hpp"
#include "viewer/launch/preflight.hpp"
#include "viewer/launch/preload_text.hpp"
#include "viewer/launch/run_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using Words = std::vector<std::string>;

// A directory that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "viewer-launch-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0755) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    chmod(file.c_str(), mode);
    return file.string();
  }

 private:
  fs::path path_;
};

constexpr std::string_view kOurs = "/opt/tidemark/lib/libtidemark.so";

TEST(Preload, OursComesFirstAndTheRestStays) {
  EXPECT_EQ(compose_preload("", kOurs), kOurs);
  EXPECT_EQ(compose_preload("/a/libx.so liby.so", kOurs), std::string{kOurs} + ":/a/libx.so:liby.so");
  EXPECT_EQ(compose_preload(":/a/libx.so::", kOurs), std::string{kOurs} + ":/a/libx.so");
}

TEST(Preload, OursIsNotThereTwice) {
  EXPECT_EQ(compose_preload("/old/libtidemark.so:/a/libx.so libtidemark.so", kOurs),
            std::string{kOurs} + ":/a/libx.so");
  EXPECT_EQ(compose_preload(compose_preload("", kOurs), kOurs), kOurs);
}

TEST(Preload, SanitizersStayInFrontOfOurs) {
  EXPECT_EQ(compose_preload("/a/libx.so:/usr/lib/libasan.so.8", kOurs),
            "/usr/lib/libasan.so.8:" + std::string{kOurs} + ":/a/libx.so");
  EXPECT_EQ(compose_preload("libtsan.so.2 libx.so", kOurs), "libtsan.so.2:" + std::string{kOurs} + ":libx.so");
}

TEST(Preload, ASanitizerThatTheProgramNeedsIsPutInOnce) {
  const Words needed{"libasan.so.8"};
  EXPECT_EQ(compose_preload("", kOurs, needed), "libasan.so.8:" + std::string{kOurs});
  EXPECT_EQ(compose_preload("/usr/lib/libasan.so.8", kOurs, needed), "/usr/lib/libasan.so.8:" + std::string{kOurs});
}

TEST(Preload, KnowsSanitizersByName) {
  for (const char* name :
       {"libasan.so.8", "/x/libtsan.so.2", "libubsan.so", "liblsan.so.0", "libclang_rt.asan-x86_64.so"}) {
    EXPECT_TRUE(is_sanitizer_runtime(name)) << name;
  }
  for (const char* name : {"libartisan-core.so", "libc.so.6", "/asan/libx.so", "san.so", "libsanity.so"}) {
    EXPECT_FALSE(is_sanitizer_runtime(name)) << name;
  }
}

TEST(Preload, ALibraryPathGetsOursInFrontOnce) {
  EXPECT_EQ(compose_library_path("", "/sim"), "/sim");
  EXPECT_EQ(compose_library_path("/a:/b", "/sim"), "/sim:/a:/b");
  EXPECT_EQ(compose_library_path("/a:/sim:/b", "/sim"), "/sim:/a:/b");
  EXPECT_EQ(compose_library_path("/a:", "/sim"), "/sim:/a:");  // an empty part is the current directory
}

TEST(Places, AreFoundInABuildTreeAndInAnInstallation) {
  const Folder build;
  build.write("bin/tidemark", "");
  build.write("lib/libtidemark.so", "");
  build.write("simulator/libmtia.so.1", "");
  const Folder installed;
  installed.write("bin/tidemark", "");
  installed.write("lib/tidemark/libtidemark.so", "");
  installed.write("lib/tidemark/simulator/libmtia.so.1", "");

  EXPECT_EQ(find_library(build.path() / "bin"), fs::canonical(build.path()) / "lib/libtidemark.so");
  EXPECT_EQ(find_simulator(build.path() / "bin"), fs::canonical(build.path()) / "simulator");
  EXPECT_EQ(find_library(installed.path() / "bin"), fs::canonical(installed.path()) / "lib/tidemark/libtidemark.so");
  EXPECT_EQ(find_simulator(installed.path() / "bin"), fs::canonical(installed.path()) / "lib/tidemark/simulator");
}

TEST(Places, SayWhereTheyLookedWhenSomethingIsMissing) {
  const Folder empty;
  empty.write("bin/tidemark", "");
  try {
    (void)find_library(empty.path() / "bin");
    FAIL() << "found a library in an empty folder";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::CannotLaunch);
    EXPECT_THAT(failure.what(), HasSubstr("lib/tidemark/libtidemark.so"));
  }
}

TEST(Places, APathThatTheLoaderCannotReadIsReachedThroughALink) {
  const Folder folder;
  const std::string target = folder.write("a b:c/libtidemark.so", "content");

  const fs::path link = link_in(folder.path(), target);

  EXPECT_TRUE(fits_in_preload(link.string()));
  EXPECT_EQ(link.filename(), "libtidemark.so");
  EXPECT_EQ(fs::read_symlink(link), target);
  EXPECT_EQ(link_in(folder.path(), target), link);
  EXPECT_EQ(std::distance(fs::directory_iterator(link.parent_path()), fs::directory_iterator{}), 1);
}

TEST(Places, NoLinkIsMadeWhereOthersCouldChangeIt) {
  const Folder folder;
  const std::string target = folder.write("a b/libtidemark.so", "");
  const fs::path ours = folder.path() / ("tidemark-" + std::to_string(geteuid()));
  fs::create_directory(ours);
  chmod(ours.c_str(), 0777);

  EXPECT_EQ(link_in(folder.path(), target), fs::path{});

  fs::remove(ours);
  fs::create_directory_symlink(folder.path(), ours);
  EXPECT_EQ(link_in(folder.path(), target), fs::path{});
}

TEST(Program, IsFoundAsAShellFindsIt) {
  const Folder folder;
  folder.write("one/prog", "", 0644);
  const std::string second = folder.write("two/prog", "");
  const std::string path =
      folder.path().string() + "/none:" + folder.path().string() + "/one:" + folder.path().string() + "/two";

  EXPECT_EQ(resolve_program("prog", path), second);
  EXPECT_EQ(resolve_program(second, ""), second);
}

ExitCode code_of(const std::string& name, const std::string& path, std::string* message = nullptr) {
  try {
    (void)resolve_program(name, path);
    return ExitCode::Done;
  } catch (const Failure& failure) {
    if (message != nullptr) {
      *message = failure.what();
    }
    return failure.code();
  }
}

TEST(Program, ThatIsNotThereIs127AndOneThatCannotRunIs126) {
  const Folder folder;
  const std::string plain = folder.write("plain", "", 0644);
  std::string message;

  EXPECT_EQ(code_of("no-such-program", folder.path()), ExitCode::NoSuchProgram);
  EXPECT_EQ(code_of("/no/such/program", ""), ExitCode::NoSuchProgram);
  EXPECT_EQ(code_of("", ""), ExitCode::NoSuchProgram);
  EXPECT_EQ(code_of(plain, "", &message), ExitCode::NotExecutable);
  EXPECT_THAT(message, HasSubstr("not executable"));
  EXPECT_EQ(code_of("plain", folder.path()), ExitCode::NotExecutable);
  EXPECT_EQ(code_of(folder.path(), ""), ExitCode::NotExecutable);
}

TEST(Program, LinkedDynamicallyGivesNoReason) {
  EXPECT_THAT(preflight({"true"}, "/bin/true", "/bin").reasons, IsEmpty());
}

// The head of an ELF file; what follows is not looked at.
std::string elf_head(char word_size, char machine) {
  std::string head(64, '\0');
  head.replace(0, 4, "\177ELF");
  head[4] = word_size;
  head[5] = 1;
  head[6] = 1;
  head[16] = 2;
  head[18] = machine;
  return head;
}
constexpr char k32Bit = 1;
constexpr char k64Bit = 2;
#if defined(__x86_64__)
constexpr char kOwnMachine = 62;
constexpr char kOtherMachine = static_cast<char>(183);
#else
constexpr char kOwnMachine = static_cast<char>(183);
constexpr char kOtherMachine = 62;
#endif

TEST(Program, StaticOrForeignIsExplained) {
  const Folder folder;
  const std::string fixed = folder.write("fixed", elf_head(k64Bit, kOwnMachine));
  const std::string narrow = folder.write("narrow", elf_head(k32Bit, 3));
  const std::string foreign = folder.write("foreign", elf_head(k64Bit, kOtherMachine));

  EXPECT_THAT(preflight({fixed}, fixed, "").reasons, ElementsAre(HasSubstr("statically linked")));
  EXPECT_THAT(preflight({narrow}, narrow, "").reasons, ElementsAre(HasSubstr("another machine or word size")));
  EXPECT_THAT(preflight({foreign}, foreign, "").reasons, ElementsAre(HasSubstr("another machine or word size")));
}

TEST(Program, NamesTheSanitizersItNeeds) {
  const bool instrumented = !preflight({"self"}, "/proc/self/exe", "").sanitizers.empty();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_TRUE(instrumented);
#else
  EXPECT_FALSE(instrumented);
#endif
}

TEST(Program, ThatIsAScriptIsJudgedByItsInterpreter) {
  const Folder folder;
  const std::string fixed = folder.write("fixed", elf_head(k64Bit, kOwnMachine));
  const std::string script = folder.write("script", "#! " + fixed + " -x\nrest\n");
  const std::string outer = folder.write("outer", "#!/usr/bin/env -S script\n");
  const std::string fine = folder.write("fine", "#!/bin/sh\n");

  EXPECT_THAT(preflight({script}, script, "").reasons, ElementsAre(HasSubstr("is a script of " + fixed)));
  EXPECT_THAT(preflight({outer}, outer, folder.path().string()).reasons,
              ElementsAre(HasSubstr("is a script of " + fixed)));
  EXPECT_THAT(preflight({fine}, fine, "").reasons, IsEmpty());
}

TEST(Program, WithSetIdBitsIsExplained) {
  const Folder folder;
  const std::string program = folder.write("program", elf_head(k64Bit, kOwnMachine));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
  } else {
    GTEST_SKIP() << "only root can make a file of somebody else's";
  }
  chmod(program.c_str(), 04755);

  EXPECT_THAT(preflight({program}, program, "").reasons, ElementsAre(HasSubstr("is setuid")));
  chmod(program.c_str(), 02755);
  EXPECT_THAT(preflight({program}, program, "").reasons, ElementsAre(HasSubstr("is setgid")));
}

TEST(Program, ThatStartsOthersElsewhereIsExplained) {
  EXPECT_THAT(explain_launcher("/usr/bin/sudo"), HasSubstr("sudo drops LD_PRELOAD"));
  EXPECT_THAT(explain_launcher("docker"), HasSubstr("container"));
  EXPECT_THAT(explain_launcher("ssh"), HasSubstr("another machine"));
  EXPECT_EQ(explain_launcher("/usr/bin/env"), "");
  EXPECT_EQ(explain_launcher("sudoku"), "");
}

TEST(InterpreterLine, IsReadAsTheKernelDoes) {
  EXPECT_THAT(interpreter_line("#!/bin/sh\nexit"), ElementsAre("/bin/sh"));
  EXPECT_THAT(interpreter_line("#!  /usr/bin/env\t-S python3 -u"), ElementsAre("/usr/bin/env", "-S", "python3", "-u"));
  EXPECT_THAT(interpreter_line("#!\n"), IsEmpty());
  EXPECT_THAT(interpreter_line("echo"), IsEmpty());
  EXPECT_THAT(interpreter_line(""), IsEmpty());
}

TEST(ElfFacts, ReadWhatThisProgramNeeds) {
  std::ostringstream bytes;
  bytes << std::ifstream("/proc/self/exe", std::ios::binary).rdbuf();

  const auto facts = elf_facts(bytes.str());

  ASSERT_TRUE(facts.has_value());
  EXPECT_TRUE(facts->same_machine);
  EXPECT_TRUE(facts->has_interpreter);
  EXPECT_THAT(facts->needed, Contains("libc.so.6"));
}

TEST(ElfFacts, SurviveEveryPrefixAndEveryFlippedByteOfAHead) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  file.read(bytes.data(), 4096);
  for (std::size_t length = 0; length < 1024; ++length) {
    (void)elf_facts(std::string_view{bytes}.substr(0, length));
  }
  for (std::size_t i = 0; i < 1024; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    (void)elf_facts(damaged);
  }
  EXPECT_FALSE(elf_facts("not an ELF file at all").has_value());
}

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
    try {
      (void)settings_of(words);
      return "";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ExitCode::Usage);
      return failure.what();
    }
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
  EXPECT_THAT(settings_of({"-q", "p"}), ElementsAre(Pair("TIDEMARK_LOG", "off")));
  EXPECT_THAT(settings_of({"-q", "--log", "debug", "p"}), ElementsAre(Pair("TIDEMARK_LOG", "debug")));
  EXPECT_THAT(settings_of({"-q", "p"}, {{"TIDEMARK_LOG", "info"}}), IsEmpty());
}

TEST_F(RunOptions, UnpoolOnlyWhatIsNotSet) {
  EXPECT_THAT(settings_of({"--unpool", "p"}, {{"XLA_PYTHON_CLIENT_ALLOCATOR", "bfc"}}),
              ElementsAre(Pair("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"), Pair("XLA_PYTHON_CLIENT_PREALLOCATE", "false")));
}

TEST_F(RunOptions, MakeFileNamesAbsolute) {
  const std::string here = fs::current_path().string();
  EXPECT_THAT(
      settings_of({"--log-file=out.txt", "--dir", ".", "p"}),
      ElementsAre(Pair("TIDEMARK_DIR", testing::StartsWith(here)), Pair("TIDEMARK_LOG_FILE", here + "/out.txt")));
}

TEST_F(RunOptions, RefuseBadValuesAndSayWhatIsAllowed) {
  EXPECT_THAT(refusal_of({"--mode", "fast", "p"}), HasSubstr("allowed: cache count off"));
  EXPECT_THAT(refusal_of({"--limit", "eight", "p"}), HasSubstr("1.5GiB"));
  EXPECT_THAT(refusal_of({"--dir", "/no/such/dir", "p"}), HasSubstr("existing directory"));
  EXPECT_THAT(refusal_of({"--label", std::string(65, 'x'), "p"}), HasSubstr("64 bytes"));
  EXPECT_THAT(refusal_of({"--simulate", "tpu", "p"}), HasSubstr("mtia cuda"));
  EXPECT_THAT(refusal_of({"--no-children", "p"}), HasSubstr("no option '--no-children'"));
  EXPECT_THAT(refusal_of({"--expect", "peak<=1GiB", "p"}), HasSubstr("no option '--expect'"));
  EXPECT_THAT(refusal_of({"--record", "p"}), HasSubstr("no option '--record'"));
}

TEST_F(RunOptions, TakeEveryFormOfALimit) {
  for (const char* limit :
       {"8GiB", "512", "1.5GiB", "80%", "0.5%", "cuda=8G", "cuda:0=8GiB,mtia=80%", "0=1GB", "8GiB,cuda:1=50%"}) {
    EXPECT_EQ(refusal_of({"--limit", limit, "p"}), "") << limit;
  }
  for (const char* limit :
       {"", "0", "-1", "101%", "0%", "%", "cuda:=8G", "gpu:0=8G", "8GiB,", "=8G", "cuda:0", "8 GiB"}) {
    EXPECT_NE(refusal_of({"--limit", limit, "p"}), "") << limit;
  }
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
