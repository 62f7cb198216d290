// One object a process, made on first use, never destroyed, and not inherited through fork().
//
//   constinit sim::PerProcess<Driver> driver;
//   driver.find_or_make([] { return new Driver; });
//
// A page with MADV_WIPEONFORK tells a child of fork (clone, _Fork) from its parent: its state word reads 0 there. The
// parent's object stays in memory, untouched: its locks may have been held. A vfork child shares the parent's, as it
// should. Any thread may call; makers wait for each other.
#pragma once

#include <atomic>
#include <cstdint>

namespace sim {

// The part that doesn't depend on the type.
class ProcessWord {
 public:
  constexpr ProcessWord() = default;

  [[nodiscard]] bool is_ready() const;
  // An ancestor had made its object when this process was forked, and this process has made none.
  [[nodiscard]] bool is_forked_child() const { return made_before_.load(std::memory_order_acquire) && !is_ready(); }

  // True: the caller is to make the object, then calls ready() or, if it could not, give_up(). False: it is there.
  bool claim();
  void ready();
  void give_up();

 private:
  struct Page;
  Page& page();

  std::atomic<Page*> page_{nullptr};
  std::atomic<bool> made_before_{false};  // ordinary memory: a child inherits it
};

template <class T>
class PerProcess {
 public:
  constexpr PerProcess() = default;

  // This process's object, or nullptr.
  [[nodiscard]] T* find() const { return word_.is_ready() ? object_.load(std::memory_order_acquire) : nullptr; }
  [[nodiscard]] bool is_forked_child() const { return word_.is_forked_child(); }

  // `make` returns a T* that lives for ever. What it throws is passed on, and the next caller tries again.
  template <class Make>
  T& find_or_make(Make&& make) {
    if (T* made = find()) return *made;
    if (word_.claim()) {
      try {
        object_.store(make(), std::memory_order_release);
      } catch (...) {
        word_.give_up();
        throw;
      }
      word_.ready();
    }
    return *object_.load(std::memory_order_acquire);
  }

 private:
  ProcessWord word_;
  std::atomic<T*> object_{nullptr};
};

}  // namespace sim
