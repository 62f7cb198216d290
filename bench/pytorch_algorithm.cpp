#include "bench/pytorch_algorithm.hpp"

#include <iterator>

namespace tidemark::bench {
namespace {

constexpr std::size_t kUnit = 512;
constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kSmallLimit = kMiB;
constexpr std::size_t kSmallSegment = 2 * kMiB;
constexpr std::size_t kLargeSegment = 20 * kMiB;
constexpr std::size_t kLeastOwnSegment = 10 * kMiB;
constexpr std::size_t kLargeRounding = 2 * kMiB;

constexpr std::size_t rounded_up(std::size_t size, std::size_t step) { return (size + step - 1) / step * step; }

constexpr std::size_t segment_size(std::size_t size) {
  return size <= kSmallLimit       ? kSmallSegment
         : size < kLeastOwnSegment ? kLargeSegment
                                   : rounded_up(size, kLargeRounding);
}

}  // namespace

PytorchAlgorithm::Pool& PytorchAlgorithm::pool_for(std::size_t size) { return size <= kSmallLimit ? small_ : large_; }

void PytorchAlgorithm::set_free(Pool& pool, Segment& segment, Segment::iterator block) {
  block->is_free = true;
  pool.insert({block->size, block->address, &segment, block});
}

void PytorchAlgorithm::unset_free(Pool& pool, Segment& segment, Segment::iterator block) {
  block->is_free = false;
  pool.erase({block->size, block->address, &segment, block});
}

bool PytorchAlgorithm::add_segment(Pool& pool, std::size_t size) {
  void* const base = driver_.allocate(size);
  if (base == nullptr) return false;
  Segment& segment = segments_.emplace_back();
  segment.push_back({reinterpret_cast<std::uintptr_t>(base), size, false});
  set_free(pool, segment, segment.begin());
  return true;
}

void PytorchAlgorithm::give_back_free_segments(Pool& pool) {
  for (auto next = pool.begin(); next != pool.end();) {
    const auto free = next++;
    if (free->segment->size() != 1) continue;
    driver_.release(reinterpret_cast<void*>(free->address));
    segments_.remove_if([&](const Segment& segment) { return &segment == free->segment; });
    pool.erase(free);
  }
}

void* PytorchAlgorithm::allocate(std::size_t requested) {
  const std::size_t size = rounded_up(requested, kUnit);
  Pool& pool = pool_for(size);
  auto found = pool.lower_bound({.size = size});
  if (found == pool.end()) {
    if (!add_segment(pool, segment_size(size))) {
      give_back_free_segments(large_);
      give_back_free_segments(small_);
      if (!add_segment(pool, segment_size(size))) return nullptr;
    }
    found = pool.lower_bound({.size = size});
  }
  Segment& segment = *found->segment;
  const Segment::iterator block = found->block;
  unset_free(pool, segment, block);
  const std::size_t rest = block->size - size;
  if (&pool == &small_ ? rest >= kUnit : rest > kMiB) {
    block->size = size;
    set_free(pool, segment, segment.insert(std::next(block), {block->address + size, rest, false}));
  }
  live_[block->address] = {&segment, block, &pool};
  return reinterpret_cast<void*>(block->address);
}

void PytorchAlgorithm::release(void* address) {
  const auto owned = live_.find(reinterpret_cast<std::uintptr_t>(address));
  const auto [segment, block, pool] = owned->second;
  live_.erase(owned);
  if (const auto after = std::next(block); after != segment->end() && after->is_free) {
    unset_free(*pool, *segment, after);
    block->size += after->size;
    segment->erase(after);
  }
  if (block != segment->begin()) {
    if (const auto before = std::prev(block); before->is_free) {
      unset_free(*pool, *segment, before);
      block->address = before->address;
      block->size += before->size;
      segment->erase(before);
    }
  }
  set_free(*pool, *segment, block);
}

}  // namespace tidemark::bench
