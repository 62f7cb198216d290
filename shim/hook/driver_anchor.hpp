// Where a driver's library is, and whether it stays there.
//
// A program that loads its driver with dlopen can unload it and load it again, at another place: what we learned of it
// holds for as long as it is loaded, until it is kept (which our first allocation does). Threads: any; two that learn
// at once learn the same.
#pragma once

#include <atomic>

namespace tidemark::hook {

class DriverAnchor {
 public:
  // A function of the driver, beside which the others are looked for; null: none known, or it was unloaded.
  [[nodiscard]] void* function() const noexcept;

  // `function` is the driver's. The first word stands for as long as its library is loaded.
  void learn(void* function) noexcept;

  // Does `function` lie in the driver's library as it is loaded now?
  [[nodiscard]] bool holds(const void* function) const noexcept;

  // Never unloaded: what is found in it now can be remembered for good.
  [[nodiscard]] bool stays() const noexcept { return stays_.load(std::memory_order_acquire); }
  void keep() noexcept;

  // Another one for a library at another place; null while none is loaded.
  [[nodiscard]] const void* identity() const noexcept;

 private:
  std::atomic<void*> function_{nullptr};
  std::atomic<const void*> section_{nullptr};  // the library's dynamic section, at an address of its own
  std::atomic<bool> stays_{false};
};

}  // namespace tidemark::hook
