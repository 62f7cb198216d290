// The whole way: a walk in a library that was just loaded, the list of modules, and the names that come out.
#include "viewer/symbols/symbolizer.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "shim/stacks/capture.hpp"
#include "shim/stacks/module_watch.hpp"
#include "tests/stacks/kept_tables.hpp"
#include "viewer/history/symbol_names.hpp"
#include "viewer/symbols/process_modules.hpp"

namespace tidemark::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

constexpr char kEntry[] = "tidemark_sample_entry";
constexpr char kCaller[] = "sample::caller(void (*)(void*), void*)";
constexpr char kInlined[] = "sample::inlined_into_its_caller(void (*)(void*), void*)";

struct Taken {
  std::array<std::uintptr_t, 64> frames;
  std::size_t count = 0;
};

class SymbolsOfALibrary : public testing::Test {
 protected:
  SymbolsOfALibrary() {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    fs::copy_file(TIDEMARK_SAMPLE_LIBRARY, library());
  }
  ~SymbolsOfALibrary() override {
    if (handle_ != nullptr) dlclose(handle_);
    fs::remove_all(directory_);
  }

  [[nodiscard]] fs::path library() const { return fs::path{directory_} / "libsample.so"; }
  [[nodiscard]] fs::path debug() const { return fs::path{directory_} / "debug"; }

  void shell(const std::string& command) const {
    ASSERT_EQ(std::system(("cd '" + directory_ + "' && " + command).c_str()), 0) << command;  // NOLINT(cert-env33-c)
  }

  // Loads it and takes the stack at its innermost, and the list of what is loaded.
  void walk() {
    handle_ = dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
    const auto entry = reinterpret_cast<void (*)(void (*)(void*), void*)>(dlsym(handle_, kEntry));
    entry(
        [](void* data) {
          auto& taken = *static_cast<Taken*>(data);
          taken.count = stacks::capture(taken.frames).frames;
        },
        &taken_);
    line_ = reinterpret_cast<int (*)(int)>(dlsym(handle_, "tidemark_sample_line"));
    stacks::ModuleWatch{kept_.tables()}.list(std::span{taken_.frames}.first(taken_.count), 1);
  }

  [[nodiscard]] ModuleMap modules() const {
    std::vector<LoadedModule> modules;
    for (const history::Module& module : kept_.read().modules) {
      modules.push_back(loaded_module(module));
    }
    return ModuleMap{std::move(modules)};
  }
  [[nodiscard]] FilePlaces places() const { return {.pid = getpid(), .debug_directories = {debug().string()}}; }

  // The frames that are in the library, as text; those of this test program around them are left out.
  std::vector<SourceFrame> named(Symbolizer& symbolizer, std::vector<std::string>* texts = nullptr) const {
    std::vector<SourceFrame> frames;
    for (std::size_t i = 0; i < taken_.count; ++i) {
      const Location& location = symbolizer.find(taken_.frames[i], 1);
      if (location.module != library()) continue;
      frames.insert(frames.end(), location.frames.begin(), location.frames.end());
      if (texts != nullptr)
        texts->push_back(location_text(location, location.frames.empty() ? nullptr : &location.frames[0]));
    }
    return frames;
  }

  void expect_all_names(Symbolizer& symbolizer) {
    const std::vector<SourceFrame> frames = named(symbolizer);
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].function, kInlined);
    EXPECT_TRUE(frames[0].is_inlined);
    EXPECT_EQ(frames[0].line, line_(0));
    EXPECT_EQ(frames[1].function, kCaller);
    EXPECT_FALSE(frames[1].is_inlined);
    EXPECT_EQ(frames[1].line, line_(1));
    EXPECT_EQ(frames[2].function, kEntry);
    EXPECT_GT(frames[2].line, frames[1].line);
    for (const SourceFrame& frame : frames) {
      EXPECT_THAT(frame.file, testing::EndsWith("tests/viewer/symbols/sample.cpp"));
      EXPECT_EQ(frame.file.front(), '/');
    }
    EXPECT_THAT(symbolizer.notes(), IsEmpty());
  }

  std::string directory_{"/tmp/tidemark-test.XXXXXX"};
  void* handle_ = nullptr;
  Taken taken_{};
  int (*line_)(int) = nullptr;
  test::KeptTables kept_;
};

TEST_F(SymbolsOfALibrary, AreFunctionsFilesAndLinesWithWhatWasInlined) {
  walk();
  Symbolizer symbolizer{modules(), places()};

  expect_all_names(symbolizer);
}

TEST_F(SymbolsOfALibrary, AreFoundInSeparateDebugInformationByBuildId) {
  const std::string id = build_id_of(library());
  ASSERT_GT(id.size(), 2u);
  const std::string file = "debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  shell("mkdir -p debug/.build-id/" + id.substr(0, 2) + " && objcopy --only-keep-debug libsample.so " + file +
        " && strip libsample.so");
  walk();
  Symbolizer symbolizer{modules(), places()};

  expect_all_names(symbolizer);
}

TEST_F(SymbolsOfALibrary, AreFoundInSeparateDebugInformationByLink) {
  shell(
      "mkdir .debug && objcopy --only-keep-debug libsample.so .debug/linked.debug && "
      "strip -R .note.gnu.build-id libsample.so && objcopy --add-gnu-debuglink=.debug/linked.debug libsample.so");
  walk();
  Symbolizer symbolizer{modules(), places()};

  expect_all_names(symbolizer);
}

TEST_F(SymbolsOfALibrary, AreExportedFunctionsAndPlacesInAStrippedOne) {
  shell("strip libsample.so");
  walk();
  Symbolizer symbolizer{modules(), places()};
  std::vector<std::string> texts;

  const std::vector<SourceFrame> frames = named(symbolizer, &texts);

  ASSERT_EQ(frames.size(), 1u) << "the hidden function has no name any more, and doesn't get its neighbour's";
  EXPECT_EQ(frames[0].function, kEntry);
  EXPECT_EQ(frames[0].line, 0);
  EXPECT_THAT(texts, ElementsAre(testing::StartsWith("libsample.so+0x"), kEntry));
}

TEST_F(SymbolsOfALibrary, AreNotTakenFromAFileThatReplacedIt) {
  walk();
  fs::remove(library());
  fs::copy_file(TIDEMARK_OTHER_LIBRARY, library());
  FilePlaces gone = places();
  gone.pid = 0;
  Symbolizer symbolizer{modules(), gone};

  EXPECT_THAT(named(symbolizer), IsEmpty());
  EXPECT_THAT(symbolizer.notes(), ElementsAre(HasSubstr("libsample.so was replaced since it was loaded")));
}

TEST_F(SymbolsOfALibrary, AreSaidToBeMissingWhereTheFileIsGone) {
  walk();
  fs::remove(library());
  FilePlaces gone = places();
  gone.pid = 0;
  Symbolizer symbolizer{modules(), gone};

  EXPECT_THAT(named(symbolizer), IsEmpty());
  EXPECT_THAT(symbolizer.notes(), ElementsAre(HasSubstr("libsample.so is not there any more")));
}

TEST_F(SymbolsOfALibrary, AreReadThroughTheMappingOfALivingProcessByRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may follow /proc/PID/map_files";
  walk();
  fs::remove(library());
  Symbolizer symbolizer{modules(), places()};

  expect_all_names(symbolizer);
}

TEST_F(SymbolsOfALibrary, AreKnownAfterItWasUnloaded) {
  walk();
  const int line = line_(1);
  dlclose(handle_);
  handle_ = nullptr;
  Symbolizer symbolizer{modules(), places()};

  const std::vector<SourceFrame> frames = named(symbolizer);

  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[1].function, kCaller);
  EXPECT_EQ(frames[1].line, line);
}

TEST_F(SymbolsOfALibrary, AreFoundForWhatNobodyListed) {
  walk();
  ModuleMap map{{}};
  map.add_unlisted(process_modules(getpid()));
  Symbolizer symbolizer{map, places()};

  expect_all_names(symbolizer);
}

TEST(Symbolizer, GivesTheAddressOfWhatIsInNoObject) {
  Symbolizer symbolizer{ModuleMap{{}}, {}};

  const Location& location = symbolizer.find(0x1235, 0);

  EXPECT_THAT(location.frames, IsEmpty());
  EXPECT_EQ(location_text(location, nullptr), "0x1234");
  EXPECT_THAT(symbolizer.notes(), IsEmpty());
}

TEST(Symbolizer, ReadsFilesThatAreNoProgramsAsNothing) {
  const LoadedModule text{.base = 0x1000, .begin = 0x1000, .end = 0x2000, .build_id = {}, .path = "/etc/passwd"};
  const LoadedModule kernels{
      .base = 0x3000, .begin = 0x3000, .end = 0x4000, .build_id = "00", .path = "linux-vdso.so.1"};
  Symbolizer symbolizer{ModuleMap{{text, kernels}}, {}};

  EXPECT_EQ(location_text(symbolizer.find(0x1101, 0), nullptr), "passwd+0x100");
  EXPECT_EQ(location_text(symbolizer.find(0x3101, 0), nullptr), "linux-vdso.so.1+0x100");
  EXPECT_THAT(symbolizer.notes(), ElementsAre(HasSubstr("/etc/passwd")));
}

TEST(ModuleMap, FindsWhatWasThereAtTheTime) {
  const auto at = [](const char* path, std::uint64_t listed, std::uint64_t gone) {
    return LoadedModule{
        .base = 0, .begin = 10, .end = 20, .build_id = {}, .path = path, .listed_ns = listed, .gone_ns = gone};
  };
  const ModuleMap map{{at("first", 100, 200), at("second", 300, 0)}};

  EXPECT_EQ(map.find(15, 150)->path, "first");
  EXPECT_EQ(map.find(15, 50)->path, "first") << "before the first look";
  EXPECT_EQ(map.find(15, 250)->path, "second") << "loaded, and not listed yet";
  EXPECT_EQ(map.find(15, 350)->path, "second");
  EXPECT_EQ(map.find(20, 350), nullptr);
  EXPECT_EQ(ModuleMap{{at("only", 100, 200)}}.find(15, 250)->path, "only");
}

}  // namespace
}  // namespace tidemark::viewer
