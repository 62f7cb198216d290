// Which objects are loaded, as seen from outside (readelf, /proc/self/maps) and while they come and go.
#include "shim/stacks/module_watch.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/stacks/chain.hpp"
#include "tests/stacks/kept_tables.hpp"

namespace tidemark::stacks {
namespace {

class ModuleWatchTest : public testing::Test {
 protected:
  // As if a stack led through that function.
  void list(const void* function, std::uint64_t now_ns) {
    const std::uint64_t behind_a_call = reinterpret_cast<std::uintptr_t>(function) + 1;
    watch_.list({&behind_a_call, 1}, now_ns);
  }
  // The last one that was listed with this address.
  std::optional<history::Module> holding(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::optional<history::Module> last;
    for (const history::Module& module : kept_.read().modules) {
      if (wanted >= module.start && wanted < module.end) last = module;
    }
    return last;
  }
  std::size_t listed() { return kept_.read().modules.size(); }
  std::uint32_t stack_through(const void* function) {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(function) + 1;
    return kept_.tables()
        .intern_stack({.addresses = {&address, 1}, .generation = watch_.generation_of({&address, 1})}, 1)
        .number;
  }

  test::KeptTables kept_;
  ModuleWatch watch_{kept_.tables()};
};

std::string build_id_by_readelf(const std::string& file) {
  FILE* pipe = popen(("readelf -n '" + file + "' 2>/dev/null | sed -n 's/.*Build ID: //p'").c_str(), "r");
  std::array<char, 256> line{};
  const char* read = fgets(line.data(), line.size(), pipe);
  pclose(pipe);
  std::string id = read == nullptr ? "" : read;
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    text += digits.data();
  }
  return text;
}

TEST_F(ModuleWatchTest, ListsTheProgramAndTheCLibraryOnceStacksLeadThere) {
  const auto* const in_program = reinterpret_cast<const void*>(&tidemark_chain_without_fp);
  const void* const in_library = dlsym(RTLD_DEFAULT, "getpid");
  EXPECT_EQ(listed(), 0u);

  list(in_program, 5);
  list(in_library, 6);
  list(in_program, 7);

  EXPECT_EQ(listed(), 2u) << "each once";
  const auto program = holding(in_program);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->path, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(hex(program->build_id), build_id_by_readelf(program->path));
  const auto library = holding(in_library);
  ASSERT_TRUE(library.has_value());
  EXPECT_THAT(library->path, testing::EndsWith("libc.so.6"));
  EXPECT_EQ(hex(library->build_id), build_id_by_readelf(library->path));
  EXPECT_NE(library->build_id.size(), 0u);
  EXPECT_EQ(library->since_ns, 6u);
  EXPECT_FALSE(library->gone_ns.has_value());
}

TEST_F(ModuleWatchTest, LeavesOutWhatLiesInNoObject) {
  const int on_the_stack = 0;

  list(&on_the_stack, 1);

  EXPECT_EQ(listed(), 0u);
}

TEST_F(ModuleWatchTest, SeesWhatIsUnloadedAndHasStacksBeginAnew) {
  void* plugin = dlopen(TIDEMARK_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  const void* function = dlsym(plugin, "tidemark_plugin_chain");
  list(function, 3);
  const std::uint32_t stack = stack_through(function);
  watch_.look_for_gone(4);
  const auto loaded = holding(function);
  EXPECT_EQ(stack_through(function), stack);

  dlclose(plugin);
  watch_.look_for_gone(5);
  const auto unloaded = holding(function);

  ASSERT_TRUE(loaded.has_value() && unloaded.has_value());
  EXPECT_EQ(loaded->path, TIDEMARK_TEST_PLUGIN);
  EXPECT_EQ(loaded->since_ns, 3u);
  EXPECT_FALSE(loaded->gone_ns.has_value());
  EXPECT_EQ(unloaded->gone_ns, 5u);
  EXPECT_NE(stack_through(function), stack) << "the same addresses can be another object's now";
  EXPECT_EQ(listed(), 1u);
}

TEST_F(ModuleWatchTest, TakesAFileThatIsOpenedAgainForTheSame) {
  const auto load = [] { return dlopen(TIDEMARK_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL); };
  void* plugin = load();
  const void* const function = dlsym(plugin, "tidemark_plugin_chain");
  list(function, 1);
  dlclose(plugin);
  plugin = load();
  if (dlsym(plugin, "tidemark_plugin_chain") != function) GTEST_SKIP() << "it came to lie elsewhere";

  watch_.look_for_gone(2);

  EXPECT_FALSE(holding(function)->gone_ns.has_value());
  dlclose(plugin);
}

// What a program does to its own directory and file says nothing of what is loaded.
TEST_F(ModuleWatchTest, KeepsWhatIsLoadedWhereTheProgramChangesItsDirectory) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path file{TIDEMARK_TEST_PLUGIN};
  std::filesystem::current_path(file.parent_path());
  void* plugin = dlopen(("./" + file.filename().string()).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  const void* const function = dlsym(plugin, "tidemark_plugin_chain");
  list(function, 1);
  std::filesystem::current_path("/");

  watch_.look_for_gone(2);

  std::filesystem::current_path(before);
  EXPECT_EQ(std::filesystem::path{holding(function)->path}.lexically_normal(), file);
  EXPECT_FALSE(holding(function)->gone_ns.has_value());
  dlclose(plugin);
}

TEST_F(ModuleWatchTest, KeepsWhatStaysWhenOthersAreUnloaded) {
  const auto* const in_program = reinterpret_cast<const void*>(&tidemark_chain_without_fp);
  list(in_program, 1);
  const std::uint32_t stack = stack_through(in_program);
  dlclose(dlopen(TIDEMARK_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL));

  watch_.look_for_gone(2);

  EXPECT_FALSE(holding(in_program)->gone_ns.has_value());
  EXPECT_EQ(stack_through(in_program), stack);
}

// Several threads meet the same objects while others of them come and go.
TEST_F(ModuleWatchTest, ListsFromManyThreadsWhileItLooks) {
  const std::array<const void*, 3> functions{reinterpret_cast<const void*>(&tidemark_chain_without_fp),
                                             dlsym(RTLD_DEFAULT, "getpid"), dlsym(RTLD_DEFAULT, "_ZSt9terminatev")};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        list(functions[static_cast<std::size_t>(round) % functions.size()], 1);
      }
    });
  }
  std::thread looking{[&] {
    while (!done) {
      watch_.look_for_gone(2);
    }
  }};
  for (int i = 0; i < 20; ++i) {
    void* const plugin = dlopen(TIDEMARK_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    list(dlsym(plugin, "tidemark_plugin_chain"), 1);
    dlclose(plugin);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  done = true;
  looking.join();

  for (const void* const function : functions) {
    EXPECT_FALSE(holding(function)->gone_ns.has_value());
  }
  for (const std::uint32_t number : {stack_through(functions[0]), stack_through(functions[1])}) {
    EXPECT_NE(number, 0u);
  }
}

}  // namespace
}  // namespace tidemark::stacks
