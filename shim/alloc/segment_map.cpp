#include "shim/alloc/segment_map.hpp"

#include "shim/alloc/device_cache.hpp"
#include "shim/alloc/mapped_array.hpp"

namespace tidemark::alloc {

namespace {

// The table that `link` names, made if there is none; null without memory. Two threads may make it at once; one wins.
template <class Table>
Table* table_at(std::atomic<Table*>& link) noexcept {
  Table* table = link.load(std::memory_order_acquire);
  if (table != nullptr) {
    return table;
  }
  // Fresh pages are zero, which is what an empty table of lock-free atomics is.
  auto* fresh = static_cast<Table*>(move_pages(nullptr, 0, sizeof(Table)));
  if (fresh == nullptr) {
    return nullptr;
  }
  if (link.compare_exchange_strong(table, fresh, std::memory_order_acq_rel, std::memory_order_acquire)) {
    return fresh;
  }
  unmap_pages(fresh, sizeof(Table));
  return table;
}

}  // namespace

SegmentMap::~SegmentMap() {
  Root* root = root_.load();
  if (root == nullptr) {
    return;
  }
  for (std::atomic<Middle*>& middle_link : *root) {
    if (Middle* middle = middle_link.load(); middle != nullptr) {
      for (std::atomic<Leaf*>& leaf_link : *middle) {
        if (Leaf* leaf = leaf_link.load(); leaf != nullptr) {
          unmap_pages(leaf, sizeof(Leaf));
        }
      }
      unmap_pages(middle, sizeof(Middle));
    }
  }
  unmap_pages(root, sizeof(Root));
}

std::optional<unsigned> SegmentMap::enroll(DeviceCache& cache) noexcept {
  for (unsigned bit = 0; bit < kMaxCaches; ++bit) {
    DeviceCache* nobody = nullptr;
    if (caches_[bit].compare_exchange_strong(nobody, &cache, std::memory_order_acq_rel)) {
      return bit;
    }
  }
  return std::nullopt;
}

void SegmentMap::resign(unsigned bit) noexcept { caches_[bit].store(nullptr, std::memory_order_release); }

bool SegmentMap::add(unsigned bit, DevicePtr base, Bytes size) noexcept {
  const std::uint64_t last = (base.address() + (size.count() - 1)) >> kGranuleBits;
  for (std::uint64_t granule = base.address() >> kGranuleBits; granule <= last; ++granule) {
    std::atomic<std::uint64_t>* entry = entry_for(granule);
    if (entry == nullptr) {
      return false;  // the bits set so far are only hints
    }
    entry->fetch_or(std::uint64_t{1} << bit, std::memory_order_release);
  }
  return true;
}

void SegmentMap::remove(unsigned bit, DevicePtr base, Bytes size) noexcept {
  constexpr std::uint64_t kGranule = std::uint64_t{1} << kGranuleBits;
  const std::uint64_t first = (base.address() + (kGranule - 1)) >> kGranuleBits;
  const std::uint64_t end = (base.address() + size.count()) >> kGranuleBits;
  for (std::uint64_t granule = first; granule < end; ++granule) {
    if (std::atomic<std::uint64_t>* entry = entry_for(granule); entry != nullptr) {
      entry->fetch_and(~(std::uint64_t{1} << bit), std::memory_order_release);
    }
  }
}

DeviceCache* SegmentMap::ask_each(std::uint64_t owners, DevicePtr ptr) const noexcept {
  for (; owners != 0; owners &= owners - 1) {
    DeviceCache* cache = caches_[static_cast<unsigned>(std::countr_zero(owners))].load(std::memory_order_acquire);
    if (cache != nullptr && cache->find(ptr)) {
      return cache;
    }
  }
  return nullptr;
}

std::atomic<std::uint64_t>* SegmentMap::entry_for(std::uint64_t granule) noexcept {
  Root* root = table_at(root_);
  Middle* middle = root == nullptr ? nullptr : table_at((*root)[root_index(granule)]);
  Leaf* leaf = middle == nullptr ? nullptr : table_at((*middle)[middle_index(granule)]);
  return leaf == nullptr ? nullptr : &(*leaf)[leaf_index(granule)];
}

}  // namespace tidemark::alloc
