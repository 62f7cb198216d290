#include "shim/alloc/kind_map.hpp"

#include "shim/alloc/probing.hpp"

namespace tidemark::alloc {

// Addresses are multiples of 512 or more, handles of 8 or small numbers: the multiplication spreads both over the top
// bits.
std::size_t KindMap::home_of(KindSpace space, std::uint64_t name) const {
  const std::uint64_t mixed = (name ^ (std::uint64_t{static_cast<std::uint8_t>(space)} << 56)) * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(mixed >> 32) & (size_ - 1);
}

std::size_t KindMap::slot_of(KindSpace space, std::uint64_t name) const noexcept {
  if (count_ == 0) {
    return kNowhere;
  }
  for (std::size_t slot = home_of(space, name);; slot = next(slot)) {
    const KindRecord& record = records_[slot];
    if (record.space == KindSpace::None) {
      return kNowhere;
    }
    if (record.space == space && record.name == name) {
      return slot;
    }
  }
}

void KindMap::place(const KindRecord& record) noexcept {
  std::size_t slot = home_of(record.space, record.name);
  while (records_[slot].space != KindSpace::None) {
    slot = next(slot);
  }
  records_[slot] = record;
}

void KindMap::insert(const KindRecord& record) noexcept {
  place(record);
  ++count_;
}

KindRecord* KindMap::find(KindSpace space, std::uint64_t name) noexcept {
  const std::size_t slot = slot_of(space, name);
  return slot == kNowhere ? nullptr : &records_[slot];
}

void KindMap::erase(KindSpace space, std::uint64_t name) noexcept {
  if (const std::size_t slot = slot_of(space, name); slot != kNowhere) {
    close_gap(slot);
    --count_;
  }
}

void KindMap::close_gap(std::size_t gap) noexcept {
  const std::size_t empty = alloc::close_gap(
      gap, size_, [this](std::size_t slot) { return records_[slot].space == KindSpace::None; },
      [this](std::size_t slot) { return home_of(records_[slot].space, records_[slot].name); },
      [this](std::size_t to, std::size_t from) { records_[to] = records_[from]; });
  records_[empty] = KindRecord{};
}

bool KindMap::grow() noexcept {
  constexpr std::size_t kFirst = 256;
  const std::size_t old_size = size_;
  const std::size_t new_size = old_size == 0 ? kFirst : old_size * 2;
  MappedArray<KindRecord> moved;
  if (!moved.grow_to(new_size)) {
    return false;
  }
  moved.swap(records_);
  size_ = new_size;
  for (std::size_t slot = 0; slot < old_size; ++slot) {
    if (moved[slot].space != KindSpace::None) {
      place(moved[slot]);
    }
  }
  return true;
}

}  // namespace tidemark::alloc
