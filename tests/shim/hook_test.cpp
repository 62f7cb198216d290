// How look-ups are answered, and how the real functions are found.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <string>
#include <thread>
#include <utility>

#include "shim/hook/hooked_symbol.hpp"
#include "shim/hook/loaded_object.hpp"
#include "shim/hook/own_object.hpp"
#include "shim/hook/real_dlsym.hpp"
#include "shim/hook/real_symbol.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/hook/symbol_lookup.hpp"

namespace {

void* answer_with_the_same(std::size_t, void* real) noexcept { return real; }

constinit tidemark::hook::SymbolUses uses_of_alloc, uses_of_free, uses_of_dlsym;

constexpr std::array kSymbols = {
    tidemark::hook::HookedSymbol{"cuMemAlloc_v2", &answer_with_the_same, 0, &uses_of_alloc},
    tidemark::hook::HookedSymbol{"cuMemFree_v2", &answer_with_the_same, 1, &uses_of_free},
    tidemark::hook::HookedSymbol{"dlsym", &answer_with_the_same, 0, &uses_of_dlsym},
};

}  // namespace

constinit const std::span<const tidemark::hook::HookedSymbol> tidemark::hook::hooked_symbols{kSymbols};

extern "C" void* tidemark_route_dlsym(void* handle, const char* name) noexcept;

namespace tidemark::hook {
namespace {

// The library, loaded as ctypes and plug-in hosts do: in nobody's scope but its own.
class HookProbe : public testing::Test {
 protected:
  void SetUp() override {
    handle_ = dlopen(TIDEMARK_PROBE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
    one_ = dlsym(handle_, "tidemark_probe_one");
    ASSERT_NE(one_, nullptr);
  }
  void TearDown() override { dlclose(handle_); }

  void* handle_ = nullptr;
  void* one_ = nullptr;
};

TEST(HookedSymbols, AreFoundByTheirExactNameOnly) {
  ASSERT_NE(find_hooked_symbol("cuMemFree_v2"), nullptr);
  EXPECT_EQ(find_hooked_symbol("cuMemFree_v2")->index, 1u);
  for (const char* other : {"cuMemFree", "cuMemFree_v22", "cu", "", "cudnnCreate", "zzz", "aaa"}) {
    EXPECT_EQ(find_hooked_symbol(other), nullptr) << other;
  }
  EXPECT_EQ(find_hooked_symbol(nullptr), nullptr);
}

TEST(DlsymDoor, LeavesEverybodyElseToTheRealOne) {
  auto* const real = reinterpret_cast<void*>(real_dlsym());
  void* some_handle = reinterpret_cast<void*>(0x1000);

  EXPECT_EQ(tidemark_route_dlsym(some_handle, "cudnnCreate"), real);
  EXPECT_EQ(tidemark_route_dlsym(some_handle, nullptr), real);
  EXPECT_EQ(tidemark_route_dlsym(RTLD_NEXT, "cuMemAlloc_v2"), real);
  EXPECT_EQ(tidemark_route_dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"), real)
      << "NULL is RTLD_DEFAULT, not a library (coz#229)";
  EXPECT_NE(tidemark_route_dlsym(some_handle, "cuMemAlloc_v2"), real);
}

TEST(DlsymDoor, NotesWhoseFunctionTheAnswerWas) {
  using Answer = void* (*)(void*, const char*);
  void* self = dlopen(nullptr, RTLD_NOW);
  const auto answer = reinterpret_cast<Answer>(tidemark_route_dlsym(self, "dlsym"));
  EXPECT_EQ(uses_of_dlsym.uses(), 0u) << "asked for, not answered yet";

  answer(self, "dlsym");  // what glibc has, since nobody puts ours in its place here

  EXPECT_EQ(uses_of_dlsym.uses(), SymbolUses::kMissed);
  EXPECT_EQ(answer(self, "cuMemFree_v2"), nullptr);
  EXPECT_EQ(uses_of_free.uses(), 0u) << "no library has it";
  dlclose(self);
}

TEST(SymbolUses, AreNotedOnceAndForGood) {
  SymbolUses uses;

  uses.entered();
  uses.note(SymbolUses::kResolved);
  uses.entered();
  uses.count_unaccounted();
  uses.count_unaccounted();

  EXPECT_EQ(uses.uses(), SymbolUses::kEntered | SymbolUses::kResolved);
  EXPECT_EQ(uses.unaccounted(), 2u);
}

TEST(DlsymDoor, CountsWhoComesThrough) {
  const std::uint64_t before = dlsym_calls();

  tidemark_route_dlsym(RTLD_DEFAULT, "cudnnCreate");
  tidemark_route_dlsym(reinterpret_cast<void*>(0x1000), "cuMemAlloc_v2");

  EXPECT_EQ(dlsym_calls(), before + 2);
}

TEST(RealDlsym, IsGlibcs) {
  EXPECT_FALSE(is_inside_our_object(reinterpret_cast<void*>(real_dlsym())));
  EXPECT_EQ(real_dlsym()(RTLD_DEFAULT, "getpid"), dlsym(RTLD_DEFAULT, "getpid"));
}

TEST(OwnObject, HoldsOurCodeAndDataAndNoOthers) {
  static int data = 0;

  EXPECT_TRUE(is_inside_our_object(&data));
  EXPECT_TRUE(is_inside_our_object(reinterpret_cast<void*>(&answer_with_the_same)));
  EXPECT_FALSE(is_inside_our_object(reinterpret_cast<void*>(real_dlsym())));
  EXPECT_FALSE(is_inside_our_object(nullptr));
}

TEST_F(HookProbe, IsFoundByFileNameThoughItIsInNobodysScope) {
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "tidemark_probe_one"), nullptr);
  dlerror();

  EXPECT_EQ(find_real_function({.name = "tidemark_probe_one", .library_prefix = "libtidemark_probe"}), one_);
  EXPECT_EQ(find_real_function({.name = "tidemark_probe_one", .library_prefix = "libanother"}), nullptr);
  EXPECT_EQ(find_real_function({.name = "tidemark_probe_none", .library_prefix = "libtidemark_probe"}), nullptr);
  EXPECT_EQ(dlerror(), nullptr) << "a program may ask after its own look-up";
}

// A plug-in that brings its own copy of a library calls that one, whoever else has the function.
TEST_F(HookProbe, IsFoundInTheScopeOfAnObjectThatNeedsIt) {
  void* plugin = dlopen(TIDEMARK_PROBE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  const void* caller = dlsym(plugin, "tidemark_probe_three");

  EXPECT_EQ(find_real_function({.name = "tidemark_probe_one", .library_prefix = "libanother", .caller = caller}), one_);
  EXPECT_EQ(find_real_function({.name = "tidemark_probe_one", .library_prefix = "libanother"}), nullptr);
  dlclose(plugin);
}

// glibc keeps one error a thread, until somebody asks or the next call of dlopen or dlsym.
TEST_F(HookProbe, IsFoundWithoutForgettingWhatDlerrorHasToSay) {
  ASSERT_EQ(dlopen("libtidemark_nowhere.so", RTLD_NOW), nullptr);

  (void)find_real_function({.name = "tidemark_probe_one", .library_prefix = "libtidemark_probe", .caller = one_});
  (void)find_real_function({.name = "tidemark_probe_none", .library_prefix = "libtidemark_probe"});
  (void)find_beside(one_, "tidemark_probe_none");
  keep_loaded(reinterpret_cast<void*>(real_dlsym()));  // glibc never goes

  const char* said = dlerror();
  EXPECT_TRUE(said != nullptr && std::string{said}.find("libtidemark_nowhere.so") != std::string::npos);
}

TEST(HookedLibrary, StaysOnlyOnceItIsToBeKept) {
  const auto load = [] {
    void* handle = dlopen(TIDEMARK_KEPT_PROBE, RTLD_NOW | RTLD_LOCAL);
    void* inside = dlsym(handle, "tidemark_probe_one");
    return std::pair{handle, inside};
  };
  const auto [first, inside_first] = load();
  dlclose(first);
  ASSERT_EQ(object_of(inside_first), nullptr) << "the test needs a library that can be unloaded";

  const auto [second, inside_second] = load();
  keep_loaded(inside_second);
  dlclose(second);

  EXPECT_NE(object_of(inside_second), nullptr);
}

// A wrapper library calls us to reach what lies behind it: its own function would call us again, for ever.
TEST_F(HookProbe, IsNotTheAnswerToACallFromItself) {
  EXPECT_EQ(find_real_function({.name = "tidemark_probe_one", .library_prefix = "libtidemark_probe", .caller = one_}),
            nullptr);
}

// fmemopen and pthread_cond_wait exist in two versions each; libc has the newer kind of hash table, the plug-in the
// old.
TEST(ExportedFunction, IsWhatDlsymFinds) {
  void* const plugin = dlopen(TIDEMARK_PROBE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  void* const libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  for (const char* name :
       {"getpid", "fmemopen", "pthread_cond_wait", "qsort", "tidemark_probe_three", "stdout", "no"}) {
    for (void* const library : {plugin, libc}) {
      const link_map* object = nullptr;
      ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &object), 0);
      void* const found = exported_function(*object, name);
      void* const expected = dlsym(library, name);

      // dlsym goes on to what the library needs; and we look for functions alone.
      const bool is_its_own = object_of(expected) == object && std::string{name} != "stdout";
      EXPECT_EQ(found, is_its_own ? expected : nullptr) << name;
    }
  }
  EXPECT_EQ(object_of(nullptr), nullptr);
  EXPECT_STREQ(file_name_of(*object_of(reinterpret_cast<void*>(real_dlsym()))), "libc.so.6");
  dlclose(plugin);
}

TEST_F(HookProbe, IsWhereItsNeighboursAreLookedFor) {
  EXPECT_EQ(find_beside(one_, "tidemark_probe_two"), dlsym(handle_, "tidemark_probe_two"));
  EXPECT_EQ(find_beside(one_, "tidemark_probe_none"), nullptr);
  EXPECT_EQ(find_beside(nullptr, "tidemark_probe_two"), nullptr);
  EXPECT_EQ(dlerror(), nullptr);
}

TEST_F(HookProbe, IsKnownByItsFileName) {
  EXPECT_TRUE(is_in_library(one_, "libtidemark_probe"));
  EXPECT_FALSE(is_in_library(one_, "libcuda.so"));
  EXPECT_FALSE(is_in_library(nullptr, "libcuda.so"));
}

constinit DriverLibrary<int> probe_library{"libtidemark_probe", -7};

TEST(RealSymbol, AnswersTheDriversCodeForNothingThereAndFindsItLater) {
  const RealSymbol<int> two{"tidemark_probe_two", probe_library};
  const RealSymbol<int> none{"tidemark_probe_none", probe_library};
  ASSERT_EQ(two(), -7) << "no such library is loaded yet";

  void* handle = dlopen(TIDEMARK_PROBE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr);

  EXPECT_EQ(two(), 2);
  EXPECT_EQ(none(), -7);
  EXPECT_FALSE(none.exists());
  dlclose(handle);
}

TEST(RealSymbol, FindsItsLibraryAgainWhereItWasLoadedAnew) {
  const RealSymbol<int> two{"tidemark_probe_two", probe_library};
  void* handle = dlopen(TIDEMARK_PROBE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_EQ(two(), 2);
  Dl_info place{};
  ASSERT_NE(dladdr(dlsym(handle, "tidemark_probe_two"), &place), 0);
  dlclose(handle);
  ASSERT_EQ(object_of(place.dli_saddr), nullptr);
  constexpr std::size_t kBytes = 1 << 14;
  void* in_its_place =
      mmap(place.dli_fbase, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(in_its_place, place.dli_fbase);

  handle = dlopen(TIDEMARK_PROBE_LIBRARY, RTLD_NOW | RTLD_LOCAL);

  EXPECT_EQ(two(), 2);
  dlclose(handle);
  munmap(in_its_place, kBytes);
}

TEST(ReentryGuard, KnowsWhetherThisThreadIsInsideAlready) {
  const ReentryGuard outer;
  EXPECT_FALSE(outer.is_reentrant());
  {
    const ReentryGuard inner;
    EXPECT_TRUE(inner.is_reentrant());
  }
  std::thread{[] { EXPECT_FALSE(ReentryGuard{}.is_reentrant()); }}.join();
  EXPECT_EQ(thread_state.depth, 1);
}

}  // namespace
}  // namespace tidemark::hook
