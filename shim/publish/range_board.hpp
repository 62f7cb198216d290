// What the program's named ranges did, by name and device, on its way into the table beside the segment. The file is
// made when the first range ends.
//
// Threads: open() and close() once; the rest any (a private lock, held for well under a microsecond but for the one
// call that makes the file). Names that find no place share the row "(other)", one a device.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "shared/base/result.hpp"
#include "shared/base/scratch.hpp"
#include "shared/ranges/layout.hpp"
#include "shared/ranges/row.hpp"
#include "shared/ranges/table_writer.hpp"
#include "shared/segment/writer.hpp"
#include "shim/alloc/device_lock.hpp"

namespace tidemark::publish {

struct RangeName {
  std::string_view domain;  // empty: the default one
  std::string_view message;
  std::uint64_t hash = 0;  // of both
};

// Of names that found no place.
inline constexpr RangeName kOtherRanges{.domain = {}, .message = "(other)", .hash = 0x6f74686572};

class RangeBoard {
 public:
  RangeBoard() = default;
  RangeBoard(const RangeBoard&) = delete;
  RangeBoard& operator=(const RangeBoard&) = delete;

  // There is a segment, beside which a table can lie; or there will be none.
  void open(segment::SegmentWriter& writer) noexcept {
    segment_ = &writer;
    state_.store(State::Open, std::memory_order_release);
  }
  void close() noexcept { state_.store(State::Closed, std::memory_order_release); }

  // False: what is counted is lost, now and later.
  [[nodiscard]] bool is_kept() const noexcept { return state_.load(std::memory_order_relaxed) != State::Closed; }

  // One range that ended, or several: numbers are added, peaks raised. An error: the table could not be made; that is
  // said once, and closes.
  [[nodiscard]] Status count(const RangeName& name, std::uint32_t device, const ranges::RowValues& one) noexcept;

  // At the end of the process, also where the file is only just being made; takes no lock that could be held by what
  // was interrupted. Ranges that end later, in destructors, make none.
  void remove_file() noexcept;

 private:
  enum class State : std::uint8_t { NotYet, Open, Closed };

  static constexpr std::size_t kPlaces = 2 * ranges::kRows;  // half of them stay empty, so that a search ends soon
  static_assert((kPlaces & (kPlaces - 1)) == 0);

  struct Row {
    std::uint64_t key;
    ranges::RowValues values;
  };
  struct Pages {
    ranges::TableWriter table;
    std::array<Row, ranges::kRows> rows;
    std::array<std::uint16_t, kPlaces> places{};  // of rows, by key; 0: none, else the row's number + 1
  };

  [[nodiscard]] Status make_table() noexcept;
  [[nodiscard]] std::uint16_t& place_for(std::uint64_t key) noexcept;

  std::atomic<State> state_{State::NotYet};
  std::atomic<ranges::TableWriter*> table_{nullptr};
  alloc::DeviceLock mutex_;  // guards the rest; see Runtime::mutex_
  segment::SegmentWriter* segment_ = nullptr;
  std::optional<Scratch<Pages>> pages_;
};

}  // namespace tidemark::publish
