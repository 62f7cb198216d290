// The memory history of a process: begun and ended at any time, and copied at one moment.
//
// Threads: any; start, stop, devices and snapshots one at a time (a private lock). A stack is taken and kept without a
// lock of the allocator's. Errors: whatever cannot be had is said once, and the program goes on unrecorded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "shared/base/result.hpp"
#include "shared/base/scratch.hpp"
#include "shared/history/history_writer.hpp"
#include "shared/history/snapshot_image.hpp"
#include "shared/segment/writer.hpp"
#include "shim/alloc/device_cache.hpp"
#include "shim/alloc/device_lock.hpp"
#include "shim/publish/device_recorder.hpp"
#include "shim/publish/device_sink.hpp"
#include "shim/stacks/stack_keeper.hpp"

namespace tidemark::publish {

class Historian {
 public:
  Historian() = default;
  Historian(const Historian&) = delete;
  Historian& operator=(const Historian&) = delete;
  ~Historian();

  // Once: there is a segment, beside which a history can lie. `beats_tell_time`: they come once a second.
  void open(segment::SegmentWriter& writer, bool beats_tell_time) noexcept;

  // Requires: the cache and sink are never destroyed. An error: what is recorded goes on without this device.
  Status add_device(alloc::DeviceCache& cache, const DeviceSink& sink) noexcept;

  // Anew, where something else was recorded before; nothing changes where the same is. Unsupported: there is no file to
  // lie beside. The bytes of the file.
  [[nodiscard]] Result<std::uint64_t> start(const history::Settings& settings) noexcept;
  // The file goes, too. False: nothing was recorded.
  bool stop() noexcept;

  // All devices, each at one moment, into a new file. Bytes.
  [[nodiscard]] Result<std::uint64_t> save_snapshot(const char* path, history::Reason reason,
                                                    bool with_history) noexcept;
  // The same into `<segment>.snap.<slot>`, over one that nobody fetched.
  [[nodiscard]] Result<std::uint64_t> save_snapshot_for(std::uint32_t slot, bool with_history) noexcept;

  // At the end of the process; false also where that can't be told without waiting.
  [[nodiscard]] bool is_recording() noexcept;
  void set_beat(std::uint64_t number) noexcept;

  // At the end of the process; takes no lock that could be held by what was interrupted.
  void remove_file() noexcept;

  // The stack of the program's call that is beginning, for what it allocates; costs a load unless stacks are recorded.
  class CallStack {
   public:
    explicit CallStack(Historian& historian) noexcept
        : is_taken_(historian.keeper_.load(std::memory_order_relaxed) != nullptr) {
      if (is_taken_) [[unlikely]] {
        outer_ = std::exchange(stack_of_call, historian.take_stack());
      }
    }
    ~CallStack() {
      if (is_taken_) [[unlikely]] {
        stack_of_call = outer_;
      }
    }
    CallStack(const CallStack&) = delete;
    CallStack& operator=(const CallStack&) = delete;

   private:
    const bool is_taken_;
    StackOfCall outer_;  // of a call that this one is a part of
  };

 private:
  static constexpr std::size_t kMostDevices = segment::kDeviceSlots;

  struct Device {
    alloc::DeviceCache* cache = nullptr;
    const DeviceSink* sink = nullptr;
    DeviceRecorder recorder;
    bool is_recorded = false;
    std::uint64_t since_ns = 0;
  };

  [[nodiscard]] StackOfCall take_stack() noexcept;
  [[nodiscard]] bool keep_stacks(history::Stacks wanted) noexcept;
  [[nodiscard]] Status record_device(Device& device, DeviceRecorder::Present present) noexcept;
  [[nodiscard]] std::uint32_t slot_of(const Device& device) const noexcept;
  void stop_alone() noexcept;
  void leave_stacks() noexcept;
  [[nodiscard]] history::FileWords words_for(history::Reason reason) const noexcept;
  [[nodiscard]] history::DeviceSizes sizes_for(Device& device, bool with_history, unsigned attempt) noexcept;
  [[nodiscard]] Result<bool> fill(history::SnapshotImage& image, history::Reason reason, bool with_history,
                                  unsigned attempt) noexcept;

  std::atomic<stacks::StackKeeper*> keeper_{nullptr};         // null: no stacks are recorded
  std::optional<Scratch<stacks::StackKeeper>> keeper_pages_;  // where it lies; guarded by mutex_
  std::atomic<std::uint32_t> stack_takers_{0};
  std::atomic<std::uint32_t> recording_{0};  // the number of this or the last one
  alloc::DeviceLock mutex_;                  // guards the rest; see Runtime::mutex_
  segment::SegmentWriter* segment_ = nullptr;
  bool beats_tell_time_ = false;
  std::uint64_t beat_ = 0;
  std::uint64_t beat_ns_ = 0;
  std::optional<history::HistoryWriter> writer_;
  std::size_t count_ = 0;
  Device devices_[kMostDevices];
};

}  // namespace tidemark::publish
