// How one hooked function was met so far: for the report on what of a program is seen, and what is not.
//
// Threads: any. Builtins instead of std::atomic for the reason given in real_dlsym.cpp: look-ups note here as well.
#pragma once

#include <cstdint>

namespace tidemark::hook {

class SymbolUses {
 public:
  static constexpr std::uint32_t kMissed = 1u << 0;    // dlsym answered with what another library has by that name
  static constexpr std::uint32_t kSwapped = 1u << 1;   // dlsym answered with ours
  static constexpr std::uint32_t kResolved = 1u << 2;  // the driver's resolver answered with ours
  static constexpr std::uint32_t kEntered = 1u << 3;   // ours was called

  // On the hot path: a load, and a branch that goes the same way every time but the first.
  void note(std::uint32_t use) noexcept {
    if ((__atomic_load_n(&uses_, __ATOMIC_RELAXED) & use) != use) [[unlikely]] {
      __atomic_fetch_or(&uses_, use, __ATOMIC_RELAXED);
    }
  }
  void entered() noexcept { note(kEntered); }

  // A call that succeeded and that nothing accounts for.
  void count_unaccounted() noexcept { __atomic_fetch_add(&unaccounted_, 1, __ATOMIC_RELAXED); }

  [[nodiscard]] std::uint32_t uses() const noexcept { return __atomic_load_n(&uses_, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uint64_t unaccounted() const noexcept { return __atomic_load_n(&unaccounted_, __ATOMIC_RELAXED); }

 private:
  std::uint32_t uses_ = 0;
  std::uint64_t unaccounted_ = 0;
};

}  // namespace tidemark::hook
