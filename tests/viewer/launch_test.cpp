// What `run` does before the program starts: the environment it makes, and what it finds out about the program.
#include "viewer/exit_code.hpp"
#include "viewer/launch/elf_facts.hpp"
#include "viewer/launch/places.hpp"
#include "viewer/launch/preflight.hpp"
#include "viewer/launch/preload_text.hpp"
#include "viewer/launch/static_runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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

TEST(StaticRuntime, OfNvidiaIsKnownByTheDriverThatItOpensAndAFileOfItsOwn) {
  using namespace std::string_literals;
  ElfFacts facts;
  facts.same_machine = true;
  ElfFacts shared = facts;
  shared.needed = {"libc.so.6", "libcudart.so.13"};
  const std::string inside = "\177ELF...\0libcuda.so.1\0...\0/cudart.shm.%x.%x\0"s;

  EXPECT_TRUE(has_nvidia_runtime_inside(facts, inside));
  EXPECT_FALSE(has_nvidia_runtime_inside(shared, inside));
  EXPECT_FALSE(has_nvidia_runtime_inside({}, inside)) << "of another machine";
  EXPECT_FALSE(has_nvidia_runtime_inside(facts, "\0libcuda.so.1\0"s)) << "a runtime that takes any driver";
  EXPECT_FALSE(has_nvidia_runtime_inside(facts, "\0libcuda.so\0/cudart.shm.\0"s));
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

}  // namespace
}  // namespace tidemark::viewer
