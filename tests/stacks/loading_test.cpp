// Walks while objects come and go.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/stacks/walks.hpp"

namespace {

tidemark::stacks::Taken taken_at_load;  // NOLINT(cert-err58-cpp)

}  // namespace

extern "C" __attribute__((visibility("default"))) void tidemark_test_at_load() {
  taken_at_load = tidemark::stacks::take();
}

namespace tidemark::stacks {
namespace {

using Function = void (*)(Chain&);

class Plugin {
 public:
  explicit Plugin(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      ADD_FAILURE() << dlerror();
    }
  }
  ~Plugin() { dlclose(handle_); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  [[nodiscard]] Function chain() const { return reinterpret_cast<Function>(dlsym(handle_, "tidemark_plugin_chain")); }

 private:
  void* handle_;
};

TEST(LoadedObjects, AreWalked) {
  const Plugin plugin{TIDEMARK_TEST_PLUGIN};
  Chain chain{};

  const Taken taken = take_at_the_end_of(plugin.chain(), chain);

  EXPECT_TRUE(goes_through(taken.frames(), chain));
  EXPECT_EQ(taken.ending(), Ending::Outermost);
}

TEST(LoadedObjects, MayAskForAWalkWhileTheyAreLoaded) {
  taken_at_load = {};
  const Plugin plugin{TIDEMARK_TEST_PLUGIN};

  ASSERT_GT(taken_at_load.frames().size(), 5u);
  EXPECT_EQ(taken_at_load.ending(), Ending::Outermost);
}

// The second has functions of the same size at the same addresses with larger frames, and the loader puts it where the
// first was.
TEST(LoadedObjects, AreNotTakenForThoseThatWereThereBefore) {
  Function first = nullptr;
  for (const char* file : {TIDEMARK_TEST_PLUGIN, TIDEMARK_TEST_OTHER_PLUGIN, TIDEMARK_TEST_PLUGIN}) {
    {
      const Plugin plugin{file};
      ASSERT_NE(plugin.chain(), nullptr);
      EXPECT_TRUE(first == nullptr || first == plugin.chain()) << "elsewhere: nothing is tested";
      first = plugin.chain();
      Chain chain{};

      const Taken taken = take_at_the_end_of(plugin.chain(), chain);

      EXPECT_TRUE(goes_through(taken.frames(), chain)) << file;
      EXPECT_EQ(taken.ending(), Ending::Outermost) << file;
    }
    forget_unloaded();
  }
}

}  // namespace
}  // namespace tidemark::stacks
