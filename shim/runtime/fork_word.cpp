#include "shim/runtime/fork_word.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tidemark::runtime {

void ForkWord::store(BuildState state) noexcept {
  if (Word* word = page(); word != nullptr) {
    word->store(state, std::memory_order_release);
  }
}

bool ForkWord::begin_building() noexcept {
  Word* word = page();
  BuildState none = BuildState::None;
  return word != nullptr && word->compare_exchange_strong(none, BuildState::Building, std::memory_order_acq_rel);
}

// Without MADV_WIPEONFORK (Linux < 4.14, some sandboxes) a child could not be told from its parent, and would write the
// parent's counters: then nothing is hooked at all, which harms nobody.
ForkWord::Word* ForkWord::page() noexcept {
  Word* known = page_.load(std::memory_order_acquire);
  if (known != nullptr || is_unavailable_.load(std::memory_order_relaxed)) {
    return known;
  }
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  if (madvise(memory, size, MADV_WIPEONFORK) != 0) {
    munmap(memory, size);
    is_unavailable_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  Word* made = new (memory) Word{BuildState::None};
  if (!page_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) {
    munmap(memory, size);
    return known;
  }
  return made;
}

}  // namespace tidemark::runtime
