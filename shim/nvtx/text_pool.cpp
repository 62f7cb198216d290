#include "shim/nvtx/text_pool.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "shared/segment/text.hpp"

namespace tidemark::nvtx {
namespace {

enum : std::uint32_t { kEmpty = 0, kFilling = 1, kReady = 2 };

// FNV-1a.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

// Another thread fills it: a copy of 120 bytes. In a forked child that thread may not be there any more.
bool is_filled_soon(const PooledText& place) noexcept {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    if (place.state.load(std::memory_order_acquire) == kReady) {
      return true;
    }
    ::sched_yield();
  }
  return false;
}

}  // namespace

const PooledText* TextPool::keep(std::string_view text) noexcept {
  PooledText* const all = pages();
  if (all == nullptr) {
    return nullptr;
  }
  text = segment::cut_text(text, PooledText::kMostBytes);
  const std::uint64_t hash = hash_of(text);
  const std::uint32_t first = static_cast<std::uint32_t>(hash ^ hash >> 32);
  for (std::uint32_t i = 0; i < places_; ++i) {
    PooledText& place = all[(first + i) & (places_ - 1)];
    std::uint32_t state = place.state.load(std::memory_order_acquire);
    if (state == kEmpty) {
      if (count_.fetch_add(1, std::memory_order_relaxed) >= most_) {
        count_.fetch_sub(1, std::memory_order_relaxed);
        return nullptr;
      }
      if (place.state.compare_exchange_strong(state, kFilling, std::memory_order_acquire)) {
        place.size = static_cast<std::uint32_t>(text.size());
        place.hash = hash;
        std::memcpy(place.bytes, text.data(), text.size());
        place.state.store(kReady, std::memory_order_release);
        return &place;
      }
      count_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (state == kFilling && !is_filled_soon(place)) {
      continue;
    }
    if (place.hash == hash && place.view() == text) {
      return &place;
    }
  }
  return nullptr;
}

const PooledText* TextPool::find(const void* handle) const noexcept {
  const PooledText* const all = pages_.load(std::memory_order_acquire);
  const auto distance = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(all);
  if (all == nullptr || distance % sizeof(PooledText) != 0 || distance / sizeof(PooledText) >= places_) {
    return nullptr;
  }
  const PooledText* const text = all + distance / sizeof(PooledText);
  return text->state.load(std::memory_order_acquire) == kReady ? text : nullptr;
}

std::uint32_t TextPool::number_of(const PooledText& text) const noexcept {
  return static_cast<std::uint32_t>(&text - pages_.load(std::memory_order_acquire));
}

PooledText* TextPool::pages() noexcept {
  PooledText* known = pages_.load(std::memory_order_acquire);
  if (known != nullptr) {
    return known;
  }
  const std::size_t bytes = places_ * sizeof(PooledText);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  static_assert(kEmpty == 0);  // as the pages are
  auto* const made = static_cast<PooledText*>(memory);
  if (!pages_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) {
    ::munmap(memory, bytes);
    return known;
  }
  return made;
}

}  // namespace tidemark::nvtx
