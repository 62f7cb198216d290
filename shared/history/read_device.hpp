// One device's part of a history, checked and put together.
#pragma once

#include <cstdint>
#include <optional>

#include "shared/history/history.hpp"
#include "shared/history/word_file.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::history {

// From the clock of events to the time of day, as INFO says.
struct TimeBase {
  std::uint64_t realtime_ns = 0;
  std::uint64_t monotonic_ns = 0;
  std::uint64_t beat = 0;  // 0: beats tell no time
  std::uint64_t beat_monotonic_ns = 0;

  [[nodiscard]] std::uint64_t realtime_of(std::uint64_t monotonic) const noexcept {
    return realtime_ns + (monotonic - monotonic_ns);  // unsigned: also where it is earlier
  }
};

// Nothing: no device has the record `index`.
[[nodiscard]] std::optional<Device> read_device(const WordFile& file, std::size_t index, const TimeBase& time,
                                                const segment::ReadBudget& budget);

// Of the device's events and changes, those that are not there any more.
struct DeviceLosses {
  std::uint64_t events = 0;
  std::uint64_t changes = 0;
};
[[nodiscard]] DeviceLosses read_losses(const WordFile& file, std::size_t index) noexcept;

}  // namespace tidemark::history
