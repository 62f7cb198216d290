// Historian: copies of one moment.
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <mutex>

#include "shared/base/scratch.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/text.hpp"
#include "shim/publish/historian.hpp"

namespace tidemark::publish {
namespace {

// More than there is now: the program goes on until the moment of the copy, and more with each attempt.
std::uint64_t with_slack(std::uint64_t count, unsigned attempt) noexcept {
  return count + ((count / 8 + 64) << attempt);
}

}  // namespace

history::FileWords Historian::words_for(history::Reason reason) const noexcept {
  history::FileWords words{.kind = history::Kind::Snapshot,
                           .reason = reason,
                           .nonce = segment_ == nullptr ? 0 : segment_->nonce(),
                           .pid = static_cast<std::uint64_t>(::getpid()),
                           .settings = {.enabled = history::Enabled::Off, .max_entries = 0},
                           .start_realtime_ns = segment::clock_ns(CLOCK_REALTIME),
                           .start_monotonic_ns = segment::clock_ns(CLOCK_MONOTONIC)};
  words.taken_monotonic_ns = words.start_monotonic_ns;
  words.identity = segment_ == nullptr ? nullptr : &segment_->identity();
  if (writer_) {
    words.settings = writer_->settings();
    words.start_realtime_ns = writer_->start_realtime_ns();
    words.start_monotonic_ns = writer_->start_monotonic_ns();
  }
  return words;
}

history::DeviceSizes Historian::sizes_for(Device& device, bool with_history, unsigned attempt) noexcept {
  const alloc::BookNumbers numbers = device.cache->numbers();
  history::DeviceSizes sizes{.blocks = with_slack(numbers.blocks, attempt),
                             .segments = with_slack(numbers.segments, attempt)};
  if (with_history && device.is_recorded) {
    sizes.ring = std::min(device.recorder.ring_size(), with_slack(device.recorder.events_kept(), attempt));
  }
  return sizes;
}

// False: it was too small.
Result<bool> Historian::fill(history::SnapshotImage& image, history::Reason reason, bool with_history,
                             unsigned attempt) noexcept {
  std::array<history::DeviceSizes, kMostDevices> sizes{};
  for (std::size_t i = 0; i < count_; ++i) {
    sizes[i] = sizes_for(devices_[i], with_history, attempt);
  }
  history::ProcessSizes process;
  if (writer_) {
    const history::ProcessSizes used = writer_->tables().used();
    const bool has_stacks = writer_->settings().stacks != history::Stacks::None;
    const auto room = [&](std::uint64_t count) { return has_stacks ? with_slack(count, attempt) : 0; };
    process = {.stacks = room(used.stacks),
               .frames = room(used.frames),
               .strings = room(used.strings),
               .text = room(used.text),
               .modules = room(used.modules)};
  }
  if (const Status made = image.make(words_for(reason), process, std::span{sizes}.first(count_)); !made) {
    return made.error();
  }
  bool is_complete = true;
  for (std::size_t i = 0; i < count_; ++i) {
    Device& device = devices_[i];
    image.device(i).describe(device.sink->info(), slot_of(device), device.is_recorded ? device.since_ns : 0);
    SnapshotVisitor visitor{image.device(i), with_history && device.is_recorded ? &device.recorder : nullptr};
    device.cache->show_to(visitor);
    is_complete &= visitor.is_complete();
  }
  if (writer_) {
    is_complete &= writer_->tables().copy_to(image.tables());
  }
  if (beats_tell_time_ && beat_ != 0) {
    image.set_beat(beat_, beat_ns_);
  }
  return is_complete;
}

Result<std::uint64_t> Historian::save_snapshot(const char* path, history::Reason reason, bool with_history) noexcept {
  constexpr unsigned kMostAttempts = 6;
  const std::lock_guard lock{mutex_};
  for (unsigned attempt = 0;; ++attempt) {
    const Scratch<history::SnapshotImage> image;
    if (!image) {
      return segment::system_error(ENOMEM);
    }
    const Result<bool> filled = fill(*image, reason, with_history, attempt);
    if (!filled) {
      return filled.error();
    }
    if (filled.value() || attempt + 1 == kMostAttempts) {
      const Status saved = image->save(path);
      return saved ? Result<std::uint64_t>{image->bytes()} : saved.error();
    }
  }
}

Result<std::uint64_t> Historian::save_snapshot_for(std::uint32_t slot, bool with_history) noexcept {
  using PathText = segment::Text<4352>;
  const Scratch<PathText> path;
  if (!path || segment_ == nullptr || *segment_->path() == '\0') {
    return Error{ErrorCode::Unsupported, 0};
  }
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, "%s%u", segment::kSnapshotSuffix.data(), slot);
  path->assign(segment_->path());
  path->append(suffix);
  struct stat stale {};
  if (::lstat(path->c_str(), &stale) == 0 && S_ISREG(stale.st_mode) && stale.st_uid == ::geteuid()) {
    ::unlink(path->c_str());
  }
  return save_snapshot(path->c_str(), history::Reason::Asked, with_history);
}

}  // namespace tidemark::publish
