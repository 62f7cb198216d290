// The ranges that were started and not yet ended, by the numbers that the program has for them: any thread may end what
// another has started. No lock, no heap. Where too many are open a range has a number, and nothing else.
//
// Threads: any. In a forked child numbers of before end nothing: what they mean is the parent's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "shim/nvtx/measure.hpp"
#include "shim/nvtx/nvtx_abi.hpp"

namespace tidemark::nvtx {

class StartedRanges {
 public:
  static constexpr std::size_t kMost = 1024;

  constexpr StartedRanges() = default;
  StartedRanges(const StartedRanges&) = delete;
  StartedRanges& operator=(const StartedRanges&) = delete;

  // Never 0. begin() says what begins, if there is room for it.
  template <class Begin>
  [[nodiscard]] RangeId start(Begin&& begin) noexcept {
    const std::uint64_t serial = serial_.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::optional<std::size_t> place = claim();
    if (!place) {
      return serial * kPlaces;
    }
    Entry& entry = entries_[*place];
    entry.range = begin();
    const RangeId id = serial * kPlaces + *place + 1;
    entry.id.store(id, std::memory_order_release);
    return id;
  }

  // To be ended; nothing: it is not open, or not measured.
  [[nodiscard]] std::optional<Range> end(RangeId id) noexcept;

 private:
  static constexpr std::uint64_t kPlaces = std::uint64_t{kMost} * 2;  // place 0: none

  // In place of a number, while an entry is changed; with the process, so that a child can tell that nobody does.
  [[nodiscard]] static constexpr RangeId changing(std::uint32_t process) noexcept { return RangeId{1} << 63 | process; }

  struct Entry {
    std::atomic<RangeId> id{0};  // 0: free
    std::atomic<std::uint32_t> process{0};
    Range range;
  };

  [[nodiscard]] std::optional<std::size_t> claim() noexcept;

  std::atomic<std::uint64_t> serial_{0};
  std::array<Entry, kMost> entries_{};
};

}  // namespace tidemark::nvtx
