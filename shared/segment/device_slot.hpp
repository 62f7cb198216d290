// A device's place in the segment, for the allocator's StatsSink.
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/device_basis.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::segment {

// A default-constructed slot publishes nowhere, so that a process without a segment needs no branch of its own.
// Copy it only to move it: two copies in use would both be the one writer.
class DeviceSlot {
 public:
  DeviceSlot() = default;

  // Requires: one caller at a time (the device's lock). Never blocks, allocates or fails.
  void publish(const DeviceBasis& basis, BasisLines changed) noexcept {
    if (record_ == nullptr) {
      return;
    }
    const WriteSection section{record_->sequence, sequence_};
    store_lines(record_->basis, basis, changed);
  }

  [[nodiscard]] bool is_published() const noexcept { return record_ != nullptr; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }  // the device argument of requests

 private:
  friend class SegmentWriter;
  DeviceSlot(DeviceRecord& record, std::uint64_t sequence, std::uint32_t index) noexcept
      : record_(&record), sequence_(sequence), index_(index) {}

  DeviceRecord* record_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace tidemark::segment
