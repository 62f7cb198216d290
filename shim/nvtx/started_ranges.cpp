#include "shim/nvtx/started_ranges.hpp"

#include "shim/nvtx/process_number.hpp"

namespace tidemark::nvtx {

std::optional<Range> StartedRanges::end(RangeId id) noexcept {
  const std::uint64_t place = id % kPlaces;
  if (id < kPlaces || place == 0 || place > kMost) {
    return std::nullopt;
  }
  Entry& entry = entries_[place - 1];
  const std::uint32_t process = process_number();
  if (!entry.id.compare_exchange_strong(id, changing(process), std::memory_order_acq_rel)) {
    return std::nullopt;
  }
  const bool is_own = entry.process.load(std::memory_order_relaxed) == process;
  const std::optional<Range> range = is_own ? std::optional{entry.range} : std::nullopt;
  entry.id.store(0, std::memory_order_release);
  return range;
}

std::optional<std::size_t> StartedRanges::claim() noexcept {
  const std::uint32_t process = process_number();
  for (std::size_t i = 0; i < kMost; ++i) {
    Entry& entry = entries_[i];
    RangeId id = entry.id.load(std::memory_order_acquire);
    // A parent's is nobody's here, whatever its thread was doing with it.
    const bool is_changing = id >= changing(0);
    const bool is_free =
        id == 0 || (is_changing ? id != changing(process) : entry.process.load(std::memory_order_relaxed) != process);
    if (is_free && entry.id.compare_exchange_strong(id, changing(process), std::memory_order_acq_rel)) {
      entry.process.store(process, std::memory_order_relaxed);
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::nvtx
