#include "shim/alloc/live_map.hpp"

namespace tidemark::alloc {

bool LiveMap::grow() noexcept {
  constexpr std::size_t kFirstSize = 1 << 13;
  const std::size_t size = size_ == 0 ? kFirstSize : size_ * 2;
  MappedArray<std::uint64_t> fresh;
  if (!fresh.grow_to(size)) {
    return false;
  }
  fresh.swap(entries_);  // `fresh` holds the old entries from here on
  const std::size_t old_size = size_;
  size_ = size;
  shift_ = 32 - static_cast<unsigned>(std::countr_zero(size));
  for (std::size_t slot = 0; slot < old_size; ++slot) {
    if (fresh[slot] != 0) {
      place(fresh[slot]);
    }
  }
  return true;
}

}  // namespace tidemark::alloc
