#include "shim/publish/device_sink.hpp"

namespace tidemark::publish {

void DeviceSink::publish(const DeviceBasis& basis, BasisLines changed) noexcept {
  if (!is_claimed_) [[unlikely]] {
    claim(basis);
    return;
  }
  slot_.publish(basis, changed);
  if ((changed & line_of(BasisWord::mode)) != 0 && slot() != kNoSlot && basis[BasisWord::mode] != mode_) [[unlikely]] {
    note_mode(basis);
  }
}

// Here, under the device's lock, so that the slot's first state is the basis of this very moment.
void DeviceSink::claim(const DeviceBasis& basis) noexcept {
  segment::SegmentWriter* writer = writer_.load(std::memory_order_acquire);
  if (writer == nullptr) {
    return;
  }
  is_claimed_ = true;  // a seventeenth device stays unpublished; asking again would not help
  if (auto claimed = writer->claim_device(info_, basis)) {
    slot_ = claimed.value();
    slot_index_.store(slot_.index(), std::memory_order_release);
    note_mode(basis);
  }
}

void DeviceSink::note_mode(const DeviceBasis& basis) noexcept {
  mode_ = basis[BasisWord::mode];
  board_->show(slot(), info_, static_cast<DeviceMode>(mode_));
}

}  // namespace tidemark::publish
