// The state word in a page that a forked child finds empty.
#include <pthread.h>
#include <sys/mman.h>

#include <new>
#include <thread>

#include "simulator/core/per_process.hpp"

namespace sim {

struct ProcessWord::Page {
  enum State : std::uint32_t { kNone = 0, kMaking = 1, kReady = 2 };
  std::atomic<std::uint32_t> state{kNone};
};

namespace {

constexpr std::size_t kPageSize = 4096;

}  // namespace

ProcessWord::Page& ProcessWord::page() {
  if (Page* known = page_.load(std::memory_order_acquire)) return *known;
  void* fresh = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) throw std::bad_alloc{};
  if (madvise(fresh, kPageSize, MADV_WIPEONFORK) != 0) {
    munmap(fresh, kPageSize);
    throw std::bad_alloc{};  // Linux before 4.14; without it a child would use its parent's locks
  }
  // A fresh page is all zero, which is a Page in state kNone.
  auto* made = static_cast<Page*>(fresh);
  Page* first = nullptr;
  if (page_.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
  munmap(fresh, kPageSize);
  return *first;
}

bool ProcessWord::is_ready() const {
  const Page* known = page_.load(std::memory_order_acquire);
  return known != nullptr && known->state.load(std::memory_order_acquire) == Page::kReady;
}

bool ProcessWord::claim() {
  Page& here = page();
  for (;;) {
    std::uint32_t seen = Page::kNone;
    if (here.state.compare_exchange_strong(seen, Page::kMaking, std::memory_order_acq_rel)) return true;
    if (seen == Page::kReady) return false;
    std::this_thread::yield();  // a maker is at work, once a process
  }
}

void ProcessWord::ready() {
  made_before_.store(true, std::memory_order_release);
  page().state.store(Page::kReady, std::memory_order_release);
}

void ProcessWord::give_up() { page().state.store(Page::kNone, std::memory_order_release); }

}  // namespace sim
