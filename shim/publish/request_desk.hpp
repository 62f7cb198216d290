// Does what viewers ask for: resets and limits at once; giving memory back where the driver may be called, which on
// CUDA is only inside the program's own calls (DESIGN D11). A driver's free waits for the device: where a thread of
// ours may call it, it is one that lives for that alone, so that nobody else has to wait.
//
// Threads: any. handle() comes one at a time (the control host's rule) and may overlap settle_deferred().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "shared/control/host.hpp"
#include "shim/alloc/device_cache.hpp"
#include "shim/alloc/device_lock.hpp"
#include "shim/alloc/kind_books.hpp"
#include "shim/publish/device_sink.hpp"
#include "shim/publish/historian.hpp"

namespace tidemark::publish {

struct ServedDevice {
  alloc::DeviceCache* cache = nullptr;
  DeviceSink* sink = nullptr;
  std::uint32_t place = 0;   // its number in the books of other kinds,
  bool counts_kinds = true;  // if it has one
  // May a thread of ours call this device's driver at any time? A background cuMemFree can deadlock with NCCL.
  bool has_background_driver_calls = false;
};

class RequestDesk final : public control::RequestHandler {
 public:
  // The results of an answer, by operation. ResetPeak: allocated and reserved peaks before and after, summed over the
  // devices asked for. EmptyCache: bytes given back. ReadPeak: the slot's peaks of allocated, reserved and held.
  // RecordStart, Snapshot: bytes of the file. RecordStop: 1 if something was recorded.
  static constexpr std::size_t kMostDevices = segment::kDeviceSlots;

  // Requires: `historian` outlives this.
  explicit RequestDesk(Historian& historian) noexcept : historian_(historian) {}

  // Requires: fewer than kMostDevices so far. The caches and sinks are never destroyed.
  void add_device(const ServedDevice& device) noexcept;

  // Requires: they outlive the process.
  void add_kinds(alloc::KindBooks& kinds) noexcept { kinds_.store(&kinds, std::memory_order_release); }

  // Once, before the first request: a thread may be made for what waits for a device. `host` is told when one is done.
  // Requires: it outlives the process.
  void allow_thread(control::ControlHost& host) noexcept { host_ = &host; }

  // To every device: blocks handed out from now on are born in this beat.
  void tell_beat(std::uint64_t number) noexcept;

  control::Answer handle(const control::Request& request) noexcept override;

  // Ends each deferred request whose work has been done meanwhile. Never blocks: another thread that is at it will do.
  void settle_deferred(control::ControlHost& host) noexcept;
  [[nodiscard]] bool has_deferred() const noexcept { return deferred_count_.load(std::memory_order_acquire) > 0; }

 private:
  // One request to give memory back, under way.
  struct Deferred {
    bool is_used = false;
    control::Request request;
    std::array<std::uint64_t, kMostDevices> tickets{};  // for the program's next call to do; 0: not for it
    std::array<bool, kMostDevices> is_for_thread{};     // for the thread to do
    std::uint64_t given_back = 0;                       // by the thread, bytes
  };
  struct Task {
    Deferred* deferred = nullptr;
    std::size_t device = 0;
  };

  template <class Act>
  std::size_t for_devices(std::uint32_t slot, Act&& act) noexcept;
  control::Answer reset_peaks(std::uint32_t slot) noexcept;
  control::Answer read_peak(const control::Request& request) noexcept;
  control::Answer empty_cache(const control::Request& request) noexcept;
  control::Answer start_recording(const control::Request& request) noexcept;
  control::Answer save_snapshot(const control::Request& request) noexcept;
  [[nodiscard]] bool is_finished(const Deferred& deferred) const noexcept;
  static void* work_in_thread(void* desk) noexcept;
  [[nodiscard]] Task next_task() noexcept;
  void leave_to_program(Deferred& deferred) noexcept;

  Historian& historian_;
  std::array<ServedDevice, kMostDevices> devices_{};
  std::atomic<alloc::KindBooks*> kinds_{nullptr};
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint64_t> last_beat_{0};
  alloc::DeviceLock deferred_mutex_;  // guards deferred_; see Runtime::mutex_
  std::array<Deferred, segment::kAckSlots> deferred_{};
  std::atomic<std::size_t> deferred_count_{0};
  control::ControlHost* host_ = nullptr;  // null: no thread
  bool has_thread_ = false;               // guarded by deferred_mutex_
};

}  // namespace tidemark::publish
