// One word that a forked child finds zero: how the runtime knows that it is in a new process, after fork, raw clone and
// _Fork alike (MADV_WIPEONFORK; a vfork child shares the parent's memory and sees the parent's word, which is right).
// Read on every hook; costs a load.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidemark::runtime {

enum class BuildState : std::uint32_t {
  None = 0,      // a new process, or nothing has happened yet
  Building = 1,  // one thread is at it
  Ready = 2,
  Disabled = 3,  // every hook only forwards in this process
};

class ForkWord {
 public:
  [[nodiscard]] BuildState load() const noexcept {
    const Word* word = page_.load(std::memory_order_acquire);
    return word == nullptr ? BuildState::None : word->load(std::memory_order_acquire);
  }
  void store(BuildState state) noexcept;

  // None -> Building; true for the one thread that did it. Makes the page on first use; false for ever if it can't be
  // had.
  [[nodiscard]] bool begin_building() noexcept;

 private:
  using Word = std::atomic<BuildState>;

  [[nodiscard]] Word* page() noexcept;

  std::atomic<Word*> page_{nullptr};
  std::atomic<bool> is_unavailable_{false};
};

}  // namespace tidemark::runtime
