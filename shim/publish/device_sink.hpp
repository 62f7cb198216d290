// A device's counters on their way into the segment. Until there is a segment, it publishes nowhere.
#pragma once

#include <atomic>
#include <cstdint>

#include "shared/segment/writer.hpp"
#include "shim/alloc/stats_sink.hpp"
#include "shim/publish/mode_board.hpp"

namespace tidemark::publish {

class DeviceSink final : public alloc::StatsSink {
 public:
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  explicit DeviceSink(const segment::DeviceInfo& info) noexcept : info_(info) {}

  // Any thread, once. The next publish() takes a slot in `writer`, and tells `board` the device's mode; so that it
  // comes soon, the caller makes the cache publish everything.
  void open(segment::SegmentWriter& writer, ModeBoard& board) noexcept {
    board_ = &board;
    writer_.store(&writer, std::memory_order_release);
  }

  void publish(const DeviceBasis& basis, BasisLines changed) noexcept override;

  [[nodiscard]] const segment::DeviceInfo& info() const noexcept { return info_; }

  // The device's number in requests; kNoSlot: not published.
  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_index_.load(std::memory_order_acquire); }

 private:
  void claim(const DeviceBasis& basis) noexcept;
  void note_mode(const DeviceBasis& basis) noexcept;

  const segment::DeviceInfo info_;
  ModeBoard* board_ = nullptr;
  std::atomic<segment::SegmentWriter*> writer_{nullptr};
  segment::DeviceSlot slot_;
  bool is_claimed_ = false;
  std::uint64_t mode_ = 0;  // as `board_` knows it
  std::atomic<std::uint32_t> slot_index_{kNoSlot};
};

}  // namespace tidemark::publish
