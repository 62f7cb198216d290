#include "shim/publish/historian.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "shim/alloc/clock.hpp"

namespace tidemark::publish {
namespace {

std::uint64_t now_ns() noexcept { return alloc::Clock::system().monotonic_ns(); }

}  // namespace

Historian::~Historian() { leave_stacks(); }

void Historian::open(segment::SegmentWriter& writer, bool beats_tell_time) noexcept {
  const std::lock_guard lock{mutex_};
  segment_ = &writer;
  beats_tell_time_ = beats_tell_time;
}

Status Historian::add_device(alloc::DeviceCache& cache, const DeviceSink& sink) noexcept {
  const std::lock_guard lock{mutex_};
  if (count_ == kMostDevices) {
    return {};
  }
  Device& device = devices_[count_++];
  device.cache = &cache;
  device.sink = &sink;
  if (!writer_) {
    return {};
  }
  // The call that met the device began before anybody could know that it was to be recorded.
  const CallStack stack{*this};
  return record_device(device, DeviceRecorder::Present::New);
}

std::uint32_t Historian::slot_of(const Device& device) const noexcept {
  const std::uint32_t slot = device.sink->slot();
  return slot != DeviceSink::kNoSlot ? slot : static_cast<std::uint32_t>(&device - devices_);
}

// Requires: mutex_, writer_.
Status Historian::record_device(Device& device, DeviceRecorder::Present present) noexcept {
  Result<history::DeviceWriter> writer = writer_->add_device();
  if (!writer) {
    return writer.error();
  }
  device.since_ns = now_ns();
  writer.value().describe(device.sink->info(), slot_of(device), device.since_ns);
  if (!device.recorder.begin(writer.value(), present, recording_.load())) {
    device.recorder.end();
    return Error{ErrorCode::System, ENOMEM};
  }
  device.cache->set_history(&device.recorder, &device.recorder.first_look());
  device.is_recorded = true;
  return {};
}

Result<std::uint64_t> Historian::start(const history::Settings& wanted) noexcept {
  const std::lock_guard lock{mutex_};
  if (segment_ == nullptr || *segment_->path() == '\0') {
    return Error{ErrorCode::Unsupported, 0};
  }
  const std::uint64_t bytes = history::history_bytes(wanted, std::max<std::size_t>(count_, 1));
  if (writer_ && writer_->settings() == wanted) {
    return bytes;
  }
  // What is recorded now shall not end for what can't be.
  if (const Status room = history::check_room_beside(segment_->path(), bytes); !room) {
    return room.error();
  }
  stop_alone();
  Result<history::HistoryWriter> writer = history::HistoryWriter::create(segment_->path(), segment_->nonce(), wanted);
  if (!writer) {
    return writer.error();
  }
  writer_.emplace(std::move(writer).value());
  recording_.fetch_add(1);
  if (!keep_stacks(wanted.stacks)) {
    stop_alone();
    return Error{ErrorCode::System, ENOMEM};
  }
  if (beats_tell_time_ && beat_ != 0) {
    writer_->set_beat(beat_, beat_ns_);
  }
  for (std::size_t i = 0; i < count_; ++i) {
    if (const Status recorded = record_device(devices_[i], DeviceRecorder::Present::Older); !recorded) {
      stop_alone();
      return recorded.error();
    }
  }
  segment_->set_flag(segment::ProcessFlag::Recording, true);
  return bytes;
}

bool Historian::stop() noexcept {
  const std::lock_guard lock{mutex_};
  const bool was_recording = writer_.has_value();
  stop_alone();
  return was_recording;
}

// Requires: mutex_.
void Historian::stop_alone() noexcept {
  if (!writer_) {
    return;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    if (devices_[i].is_recorded) {
      devices_[i].cache->set_history(nullptr, nullptr);
      devices_[i].recorder.end();
      devices_[i].is_recorded = false;
    }
  }
  leave_stacks();
  segment_->set_flag(segment::ProcessFlag::Recording, false);
  writer_->remove_file();
  writer_.reset();
}

// Requires: mutex_, writer_. False without memory.
bool Historian::keep_stacks(history::Stacks wanted) noexcept {
  if (wanted == history::Stacks::None) {
    return true;
  }
  if (!keeper_pages_.emplace(writer_->tables(), wanted)) {
    keeper_pages_.reset();
    return false;
  }
  keeper_.store(&**keeper_pages_);
  return true;
}

// Whoever is just keeping a stack is done in a few microseconds, or was scheduled away in the middle.
void Historian::leave_stacks() noexcept {
  keeper_.store(nullptr);
  while (stack_takers_.load() != 0) {
    ::sched_yield();
  }
  keeper_pages_.reset();
}

StackOfCall Historian::take_stack() noexcept {
  StackOfCall taken;
  stack_takers_.fetch_add(1);
  if (stacks::StackKeeper* const keeper = keeper_.load(); keeper != nullptr) {
    taken = {.number = keeper->keep(now_ns()), .recording = recording_.load()};
  }
  stack_takers_.fetch_sub(1);
  return taken;
}

// Maybe inside a call of the program's, which shall not wait for a snapshot to be written.
void Historian::set_beat(std::uint64_t number) noexcept {
  if (!mutex_.try_lock()) {
    return;
  }
  const std::lock_guard lock{mutex_, std::adopt_lock};
  beat_ = number;
  beat_ns_ = now_ns();
  if (stacks::StackKeeper* const keeper = keeper_.load(); keeper != nullptr) {
    keeper->ask_for_a_look();
  }
  if (writer_ && beats_tell_time_) {
    writer_->set_beat(beat_, beat_ns_);
  }
}

bool Historian::is_recording() noexcept {
  if (!mutex_.try_lock()) {
    return false;
  }
  const std::lock_guard lock{mutex_, std::adopt_lock};
  return writer_.has_value();
}

void Historian::remove_file() noexcept {
  if (mutex_.try_lock()) {  // else the file stays, and goes with its segment at the next sweep
    const std::lock_guard lock{mutex_, std::adopt_lock};
    if (writer_) {
      writer_->remove_file();
    }
  }
}

}  // namespace tidemark::publish
