#include "shim/publish/device_recorder.hpp"

namespace tidemark::publish {
namespace {

using alloc::BookAction;

history::BlockState state_of(const alloc::Block& block) noexcept {
  switch (block.state) {
    case alloc::BlockState::Live:
      return history::BlockState::Allocated;
    case alloc::BlockState::Pending:
      return history::BlockState::Pending;
    case alloc::BlockState::Free:
    case alloc::BlockState::Abandoned:
      break;
  }
  return history::BlockState::Inactive;
}

history::Action action_of(BookAction action) noexcept {
  switch (action) {
    case BookAction::Alloc:
      return history::Action::Alloc;
    case BookAction::FreeRequested:
      return history::Action::FreeRequested;
    case BookAction::FreeCompleted:
      return history::Action::FreeCompleted;
    case BookAction::SegmentAlloc:
      return history::Action::SegmentAlloc;
    case BookAction::SegmentFree:
      return history::Action::SegmentFree;
    case BookAction::OutOfMemory:
      return history::Action::OutOfMemory;
    case BookAction::PeakReset:
      return history::Action::PeakReset;
    case BookAction::SegmentPinned:
      break;
  }
  return history::Action::None;
}

history::BlockWords words_of(const alloc::Block& block, std::uint64_t segment_serial,
                             const DeviceRecorder::Born& born) noexcept {
  const history::BlockState state = state_of(block);
  const bool is_used = state != history::BlockState::Inactive;
  return {.address = block.address,
          .size = block.size,
          .requested = is_used ? block.requested : 0,
          .birth_ns = is_used ? born.birth_ns : 0,
          .state = state,
          .stack = is_used ? born.stack : 0,
          .segment = block.segment,
          .segment_serial = segment_serial,
          .birth_beat = is_used ? block.birth_beat : 0};
}

history::SegmentWords words_of(const alloc::Segment& segment, std::uint64_t serial,
                               const DeviceRecorder::Born& born) noexcept {
  return {.address = segment.base,
          .size = segment.size,
          .serial = serial,
          .context = static_cast<std::uint64_t>(segment.context),
          .is_large = segment.pool == alloc::Pool::Large,
          .passed_through = segment.passed_through,
          .pinned = segment.pinned,
          .stack = born.stack,
          .birth_ns = born.birth_ns};
}

std::uint64_t active_bytes(const DeviceBasis& basis) noexcept {
  return basis[BasisWord::small_live_bytes] + basis[BasisWord::small_pending_bytes] +
         basis[BasisWord::large_live_bytes] + basis[BasisWord::large_pending_bytes];
}

std::uint64_t now_ns() noexcept { return alloc::Clock::system().monotonic_ns(); }

}  // namespace

bool DeviceRecorder::begin(const history::DeviceWriter& writer, Present present, std::uint32_t recording) noexcept {
  writer_ = writer;
  kind_of_present_ = present;
  recording_ = recording;
  return blocks_.grow_to(writer.sizes().blocks) && segments_.grow_to(writer.sizes().segments);
}

void DeviceRecorder::end() noexcept {
  writer_ = {};
  alloc::MappedArray<Born>{}.swap(blocks_);
  alloc::MappedArray<SegmentNote>{}.swap(segments_);
}

DeviceRecorder::Born DeviceRecorder::born(alloc::BlockIndex block) const noexcept {
  return block < blocks_.capacity() ? blocks_[block] : Born{};
}

DeviceRecorder::Born DeviceRecorder::born_segment(alloc::SegmentIndex segment) const noexcept {
  return segment < segments_.capacity() ? segments_[segment].born : Born{};
}

void DeviceRecorder::remember(alloc::BlockIndex block, const Born& born) noexcept {
  if (block < blocks_.capacity()) {
    blocks_[block] = born;
  }
}

void DeviceRecorder::begin_segment(alloc::SegmentIndex segment, const Born& born) noexcept {
  if (segment < segments_.capacity()) {
    segments_[segment] = {.serial = ++last_serial_, .born = born};
  }
}

history::BlockWords DeviceRecorder::words_of(alloc::BlockIndex index, const alloc::Block& block) const noexcept {
  const bool is_noted = block.segment < segments_.capacity();
  return publish::words_of(block, is_noted ? segments_[block.segment].serial : 0, born(index));
}

history::SegmentWords DeviceRecorder::words_of(alloc::SegmentIndex index,
                                               const alloc::Segment& segment) const noexcept {
  return publish::words_of(segment, index < segments_.capacity() ? segments_[index].serial : 0, born_segment(index));
}

void DeviceRecorder::note(const alloc::BookEvent& event, const alloc::BlockTable& blocks,
                          const alloc::SegmentTable& segments) noexcept {
  const history::StackId stack = stack_of_this_call();
  history::EventWords words{.action = action_of(event.action),
                            .is_large = event.segment != 0 && segments[event.segment].pool == alloc::Pool::Large,
                            .stack = stack,
                            .address = event.address,
                            .size = event.size,
                            .requested = event.requested,
                            .time_ns = now_ns(),
                            .device_free = event.device_free_bytes};
  if (event.segment != 0) {
    words.context = static_cast<std::uint64_t>(segments[event.segment].context);
  }
  if (event.action == BookAction::Alloc && !event.is_undone) {
    remember(event.block, {.birth_ns = words.time_ns, .stack = stack});
  } else if (event.action == BookAction::SegmentAlloc) {
    begin_segment(event.segment, {.birth_ns = words.time_ns, .stack = stack});
  }
  if (words.stack == 0 && event.block != 0) {
    words.stack = born(event.block).stack;
  }
  history::Changes changes;
  describe(changes, event, blocks, segments);
  writer_.record(words, changes);
}

// A completed free without another block that it is part of now is one that was undone: the allocation that follows
// says what there is.
void DeviceRecorder::describe(history::Changes& changes, const alloc::BookEvent& event, const alloc::BlockTable& blocks,
                              const alloc::SegmentTable& segments) const noexcept {
  if (event.action == BookAction::SegmentFree) {
    changes.no_segment(event.segment);
    return;
  }
  if (event.action == BookAction::SegmentAlloc || event.action == BookAction::SegmentPinned) {
    changes.segment(event.segment, words_of(event.segment, segments[event.segment]));
  }
  if (event.action == BookAction::Alloc || event.action == BookAction::FreeRequested) {
    changes.block(event.block, words_of(event.block, blocks[event.block]));
  }
  if (event.changed != 0) {
    changes.block(event.changed, words_of(event.changed, blocks[event.changed]));
  }
  for (const alloc::BlockIndex gone : event.gone) {
    if (gone != 0) {
      changes.no_block(gone);
    }
  }
}

void DeviceRecorder::note_snapshot(std::uint64_t active_bytes) noexcept {
  writer_.record({.action = history::Action::Snapshot, .size = active_bytes, .time_ns = now_ns()}, {});
}

// Nobody reads the tables yet, so the events need not say what they change.
void DeviceRecorder::FirstLook::visit_segment(alloc::SegmentIndex index, const alloc::Segment& segment) noexcept {
  const bool is_new = recorder_.kind_of_present_ == Present::New;
  const Born born = is_new ? Born{.birth_ns = now_ns(), .stack = recorder_.stack_of_this_call()} : Born{};
  recorder_.begin_segment(index, born);
  const history::SegmentWords words = recorder_.words_of(index, segment);
  recorder_.writer_.put(index, words);
  if (is_new) {
    recorder_.writer_.record({.action = history::Action::SegmentAlloc,
                              .is_large = words.is_large,
                              .stack = born.stack,
                              .address = words.address,
                              .size = words.size,
                              .time_ns = born.birth_ns,
                              .context = words.context},
                             {});
  }
}

void DeviceRecorder::FirstLook::visit_block(alloc::BlockIndex index, const alloc::Block& block) noexcept {
  const bool is_used = block.state == alloc::BlockState::Live || block.state == alloc::BlockState::Pending;
  if (recorder_.kind_of_present_ == Present::Older || !is_used) {
    recorder_.writer_.put(index, recorder_.words_of(index, block));
    return;
  }
  const Born born{.birth_ns = now_ns(), .stack = recorder_.stack_of_this_call()};
  recorder_.remember(index, born);
  recorder_.writer_.put(index, recorder_.words_of(index, block));
  history::EventWords words{.action = history::Action::Alloc,
                            .stack = born.stack,
                            .address = block.address,
                            .size = block.size,
                            .requested = block.requested,
                            .time_ns = born.birth_ns};
  recorder_.writer_.record(words, {});
  if (block.state == alloc::BlockState::Pending) {
    words.action = history::Action::FreeRequested;
    recorder_.writer_.record(words, {});
  }
}

void DeviceRecorder::FirstLook::visit_counters(const DeviceBasis& /*basis*/) noexcept { recorder_.writer_.open(); }

void SnapshotVisitor::visit_segment(alloc::SegmentIndex index, const alloc::Segment& segment) noexcept {
  is_complete_ &= index < image_.sizes().segments;
  const auto born = recorder_ == nullptr ? DeviceRecorder::Born{} : recorder_->born_segment(index);
  image_.put(index, words_of(segment, std::uint64_t{index} + 1, born));
}

void SnapshotVisitor::visit_block(alloc::BlockIndex index, const alloc::Block& block) noexcept {
  is_complete_ &= index < image_.sizes().blocks;
  const auto born = recorder_ == nullptr ? DeviceRecorder::Born{} : recorder_->born(index);
  image_.put(index, words_of(block, std::uint64_t{block.segment} + 1, born));
}

void SnapshotVisitor::visit_counters(const DeviceBasis& basis) noexcept {
  image_.put_counters(basis);
  if (recorder_ != nullptr) {
    image_.copy_events(recorder_->writer());
    recorder_->note_snapshot(active_bytes(basis));
  }
  image_.open();
}

}  // namespace tidemark::publish
