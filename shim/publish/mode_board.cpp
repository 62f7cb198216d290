#include "shim/publish/mode_board.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace tidemark::publish {

void ModeBoard::open(segment::SegmentWriter& writer, segment::ProcessMode wanted, std::string_view why) noexcept {
  const std::lock_guard lock{mutex_};
  writer_ = &writer;
  wanted_ = wanted;
  why_.assign(why);
  publish();
}

void ModeBoard::want(segment::ProcessMode mode, std::string_view why) noexcept {
  const std::lock_guard lock{mutex_};
  if (writer_ != nullptr) {
    wanted_ = mode;
    why_.assign(why);
    publish();
  }
}

void ModeBoard::show(std::uint32_t slot, const segment::DeviceInfo& device, DeviceMode mode) noexcept {
  const std::lock_guard lock{mutex_};
  devices_[slot] = {.is_known = true, .mode = mode, .backend = device.backend, .ordinal = device.ordinal};
  publish();
}

bool ModeBoard::does_less(const Device& device) const noexcept {
  return device.is_known && (device.mode == DeviceMode::PassThrough ||
                             (device.mode == DeviceMode::Count && wanted_ == segment::ProcessMode::Cache));
}

// With several devices the process still caches on the others; the reason then names the one that is different.
void ModeBoard::publish() noexcept {
  const auto first =
      std::find_if(devices_.begin(), devices_.end(), [this](const Device& device) { return does_less(device); });
  if (first == devices_.end()) {
    writer_->set_mode(wanted_, why_.view());
    return;
  }
  const bool all_do = std::all_of(devices_.begin(), devices_.end(),
                                  [this](const Device& device) { return !device.is_known || does_less(device); });
  char reason[96];
  std::snprintf(
      reason, sizeof reason, "%s:%u %s", segment::to_text(first->backend), first->ordinal,
      first->mode == DeviceMode::PassThrough ? "reported an error that stays, and passes through" : "only counts");
  writer_->set_mode(all_do ? segment::ProcessMode::Count : wanted_, reason);
}

}  // namespace tidemark::publish
