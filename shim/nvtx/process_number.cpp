#include "shim/nvtx/process_number.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace tidemark::nvtx {
namespace {

using Word = std::atomic<std::uint32_t>;

constinit std::atomic<Word*> wiped_word{nullptr};
constinit Word fixed_word{1};
constinit Word last_number{0};  // a child has its parent's

Word& word() noexcept {
  Word* known = wiped_word.load(std::memory_order_acquire);
  if (known != nullptr) {
    return *known;
  }
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || ::madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    if (page != MAP_FAILED) {
      ::munmap(page, bytes);
    }
    return wiped_word.compare_exchange_strong(known, &fixed_word) ? fixed_word : *known;
  }
  Word* const made = new (page) Word{0};
  if (!wiped_word.compare_exchange_strong(known, made, std::memory_order_acq_rel)) {
    ::munmap(page, bytes);
    return *known;
  }
  return *made;
}

}  // namespace

std::uint32_t process_number() noexcept {
  Word& own = word();
  std::uint32_t number = own.load(std::memory_order_acquire);
  if (number == 0) {
    const std::uint32_t next = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
    number = own.compare_exchange_strong(number, next, std::memory_order_acq_rel) ? next : number;
  }
  return number;
}

}  // namespace tidemark::nvtx
