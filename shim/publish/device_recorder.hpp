// What the allocator tells of one device, in the words of a history; and what it has at one moment, as a snapshot.
#pragma once

#include <cstdint>

#include "shared/history/device_writer.hpp"
#include "shim/alloc/clock.hpp"
#include "shim/alloc/history_sink.hpp"
#include "shim/alloc/mapped_array.hpp"

namespace tidemark::publish {

// The stack that this thread's call came with, taken before any lock of ours. A number means something in the recording
// that it was taken for alone, and a recording can end and another begin while a call is under way.
struct StackOfCall {
  history::StackId number = 0;  // 0: none
  std::uint32_t recording = 0;
};
inline constinit thread_local StackOfCall stack_of_call __attribute__((tls_model("initial-exec"))) = {};

// Threads: note() and the visitor under the device's lock, the rest before and after they may be called.
class DeviceRecorder final : public alloc::HistorySink {
 public:
  DeviceRecorder() = default;
  DeviceRecorder(const DeviceRecorder&) = delete;
  DeviceRecorder& operator=(const DeviceRecorder&) = delete;

  // What is there when the recording begins: older than it; or new, since the device has just been met, and then told
  // as events.
  enum class Present { Older, New };

  // `recording`: the number of this one. False without memory for the stacks and births of blocks.
  [[nodiscard]] bool begin(const history::DeviceWriter& writer, Present present, std::uint32_t recording) noexcept;
  // Puts down what is there before the first event.
  [[nodiscard]] alloc::BookVisitor& first_look() noexcept { return first_look_; }
  // Nobody calls any more.
  void end() noexcept;

  void note(const alloc::BookEvent& event, const alloc::BlockTable& blocks,
            const alloc::SegmentTable& segments) noexcept override;
  // After a copy was taken. Requires: the device's lock.
  void note_snapshot(std::uint64_t active_bytes) noexcept;

  // Of a block that is there: 0 where it is older than the recording, or has no place in its table.
  struct Born {
    std::uint64_t birth_ns = 0;
    history::StackId stack = 0;
  };
  [[nodiscard]] Born born(alloc::BlockIndex block) const noexcept;
  [[nodiscard]] Born born_segment(alloc::SegmentIndex segment) const noexcept;
  [[nodiscard]] const history::DeviceWriter& writer() const noexcept { return writer_; }
  // Any thread, between begin() and end().
  [[nodiscard]] std::uint64_t ring_size() const noexcept { return writer_.sizes().ring; }
  [[nodiscard]] std::uint64_t events_kept() noexcept { return writer_.events_kept(); }

 private:
  struct SegmentNote {
    std::uint64_t serial;
    Born born;
  };
  class FirstLook final : public alloc::BookVisitor {
   public:
    explicit FirstLook(DeviceRecorder& recorder) noexcept : recorder_(recorder) {}
    void visit_segment(alloc::SegmentIndex index, const alloc::Segment& segment) noexcept override;
    void visit_block(alloc::BlockIndex index, const alloc::Block& block) noexcept override;
    void visit_counters(const DeviceBasis& basis) noexcept override;

   private:
    DeviceRecorder& recorder_;
  };

  [[nodiscard]] history::StackId stack_of_this_call() const noexcept {
    return stack_of_call.recording == recording_ ? stack_of_call.number : 0;
  }
  void remember(alloc::BlockIndex block, const Born& born) noexcept;
  void begin_segment(alloc::SegmentIndex segment, const Born& born) noexcept;
  [[nodiscard]] history::BlockWords words_of(alloc::BlockIndex index, const alloc::Block& block) const noexcept;
  [[nodiscard]] history::SegmentWords words_of(alloc::SegmentIndex index, const alloc::Segment& segment) const noexcept;
  void describe(history::Changes& changes, const alloc::BookEvent& event, const alloc::BlockTable& blocks,
                const alloc::SegmentTable& segments) const noexcept;

  history::DeviceWriter writer_;
  alloc::MappedArray<Born> blocks_;
  alloc::MappedArray<SegmentNote> segments_;
  std::uint64_t last_serial_ = 0;
  Present kind_of_present_ = Present::Older;
  std::uint32_t recording_ = 0;
  FirstLook first_look_{*this};
};

// Everything that a device has, into a snapshot: blocks and segments from the allocator's own tables, births, stacks
// and events from the recorder, which may be null.
class SnapshotVisitor final : public alloc::BookVisitor {
 public:
  SnapshotVisitor(history::DeviceWriter& image, DeviceRecorder* recorder) noexcept
      : image_(image), recorder_(recorder) {}
  void visit_segment(alloc::SegmentIndex index, const alloc::Segment& segment) noexcept override;
  void visit_block(alloc::BlockIndex index, const alloc::Block& block) noexcept override;
  void visit_counters(const DeviceBasis& basis) noexcept override;

  // Everything found its place.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  history::DeviceWriter& image_;
  DeviceRecorder* recorder_;
  bool is_complete_ = true;
};

}  // namespace tidemark::publish
