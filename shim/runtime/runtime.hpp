// Everything of ours in a process: built by its first allocation call, silent until the first one that succeeds, never
// destroyed, built anew in a forked child.
//
// Threads: any. Nothing here throws; whatever cannot be done leaves the program with the driver's own answer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "shim/alloc/device_lock.hpp"
#include "shim/alloc/segment_map.hpp"
#include "shim/backend/device_identity.hpp"
#include "shim/publish/publisher.hpp"
#include "shim/runtime/fork_word.hpp"
#include "shim/runtime/options.hpp"
#include "shim/runtime/other_kinds.hpp"
#include "shim/runtime/out_of_memory_snapshots.hpp"
#include "shim/runtime/phases.hpp"
#include "shim/runtime/served_device.hpp"
#include "shim/runtime/situation.hpp"

namespace tidemark::runtime {

class Runtime {
 public:
  static constexpr std::size_t kMostDevices = segment::kDeviceSlots;

  Runtime() noexcept;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // False: TIDEMARK_MODE=off, TIDEMARK_SKIP or TIDEMARK_ONLY_PID; every hook only forwards.
  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }

  // The device of a key, made on first use by `make_upstream(ServedDevice::UpstreamPlace&)` and `describe()`. Null:
  // more devices than we can show; their calls are forwarded.
  template <class MakeUpstream, class Describe>
  ServedDevice* device(DeviceKey key, MakeUpstream&& make_upstream, Describe&& describe) noexcept {
    if (ServedDevice* known = find(key); known != nullptr) [[likely]] {
      return known;
    }
    const backend::DeviceIdentity identity = describe();  // asks the driver, so before the lock
    const std::lock_guard lock{mutex_};
    if (ServedDevice* known = find(key); known != nullptr || count_.load(std::memory_order_relaxed) == kMostDevices) {
      return known;
    }
    ServedDevice& made = make_place(key, identity);
    alloc::Upstream& upstream = make_upstream(made.upstream_place());
    made.make_cache(upstream, segments_, policy_for(key, identity, upstream), identity.capacity);
    count_.fetch_add(1, std::memory_order_release);
    return &made;
  }

  // Null: never met.
  [[nodiscard]] ServedDevice* find(DeviceKey key) noexcept {
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      if (place(i).key() == key) {
        return &place(i);
      }
    }
    return nullptr;
  }

  // In the order in which they were met.
  template <class Visit>
  void for_each_device(Visit&& visit) noexcept {
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      visit(place(i));
    }
  }
  template <class Visit>
  void for_each_device(Layer layer, Visit&& visit) noexcept {
    for_each_device([&](ServedDevice& device) {
      if (device.key().layer == layer) {
        visit(device);
      }
    });
  }

  // A device's number, by which the books of other kinds know it, and back.
  [[nodiscard]] std::uint32_t place_of(const ServedDevice& device) const noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<const Place*>(&device) - places_.data());
  }
  // Requires: a number from place_of().
  [[nodiscard]] ServedDevice& device_at(std::uint32_t index) noexcept { return place(index); }

  // Memory that is counted and not cached.
  [[nodiscard]] alloc::KindBooks& kinds() noexcept { return kinds_.books(); }

  // Of the segment; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> segment_nonce() const noexcept { return publisher_.nonce(); }
  [[nodiscard]] std::string_view label() const noexcept { return options_.label.view(); }

  [[nodiscard]] publish::Historian& historian() noexcept { return publisher_.historian(); }

  // The program's own wish, over what the options say: at once, or with the first allocation that succeeds.
  Status record(const history::Settings& settings) noexcept;
  void stop_recording() noexcept;

  [[nodiscard]] Phases& phases() noexcept { return phases_; }

  // A phase of one of the program's named ranges, and what each device had allocated as it began. Nothing: see Phases.
  [[nodiscard]] std::optional<std::int64_t> open_range() noexcept;
  [[nodiscard]] std::uint64_t allocated_at_begin(unsigned slot, const ServedDevice& device) const noexcept {
    return allocated_at_begin_[slot - alloc::DeviceCache::kPeakSlots][place_of(device)];
  }
  [[nodiscard]] publish::RangeBoard& ranges() noexcept { return publisher_.ranges(); }

  // The cache that owns an address; null: not ours.
  [[nodiscard]] alloc::DeviceCache* owner_of(alloc::DevicePtr ptr) const noexcept { return segments_.owner_of(ptr); }

  // The same for a call to one driver, where several serve the process, each with memory that the others never heard
  // of: MTIA's and CUDA's, or a CUDA runtime that has its driver inside. Null as well: that driver shall refuse it.
  // `knows()` asks it whether the address is one of its own after all: what seems to be another can be the same one,
  // reached on a way that we don't see, and it would then free what a segment of ours holds besides.
  template <class Knows>
  [[nodiscard]] alloc::DeviceCache* owner_of(alloc::DevicePtr ptr, Layer layer, std::uint8_t runtime,
                                             Knows&& knows) noexcept {
    alloc::DeviceCache* const owner = segments_.owner_of(ptr);
    if (owner == nullptr || !has_several_drivers_.load(std::memory_order_relaxed)) [[likely]] {
      return owner;
    }
    return is_of(*owner, layer, runtime) || knows() ? owner : nullptr;
  }

  // After a call on `device` that succeeded: from the first one on, the process and the device are visible.
  void after_success(ServedDevice& device) noexcept {
    if (!device.is_visible()) [[unlikely]] {
      show(device);
    }
    after_call();
  }

  // After a call that gave the process memory of the host: the process is visible, if there is no device yet.
  void after_host_success() noexcept {
    if (!is_visible_.load(std::memory_order_acquire)) [[unlikely]] {
      show_process();
    }
    after_call();
  }

  // After any other call that was ours.
  void after_call() noexcept {
    publisher_.after_program_call();
    if (is_look_due_.load(std::memory_order_relaxed)) [[unlikely]] {
      look_around_again();
    }
  }

  // From any thread: the program's next call looks at what is loaded.
  void ask_for_a_look() noexcept { is_look_due_.store(true, std::memory_order_relaxed); }

  // After an allocation on `device` that failed: remembered and said if it was for want of memory, counted if
  // the fault was ours.
  void after_failure(ServedDevice& device, const Error& error) noexcept;

  // The end of the process. Takes no device's lock: exit() may be called in a signal handler that interrupted its
  // holder.
  void finish() noexcept;

 private:
  ServedDevice& make_place(DeviceKey key, const backend::DeviceIdentity& identity) noexcept;
  [[nodiscard]] bool is_of(const alloc::DeviceCache& cache, Layer layer, std::uint8_t runtime) noexcept;
  ServedDevice& place(std::size_t index) noexcept {
    return *std::launder(reinterpret_cast<ServedDevice*>(places_[index].bytes));
  }
  alloc::Policy policy_for(DeviceKey key, const backend::DeviceIdentity& identity,
                           const alloc::Upstream& upstream) noexcept;
  [[nodiscard]] alloc::Fill fill_for(const alloc::Upstream& upstream) noexcept;
  void show(ServedDevice& device) noexcept;
  [[nodiscard]] bool is_counting() const noexcept;
  void look_around() noexcept;
  void look_around_again() noexcept;
  void show_process() noexcept;
  void start_once() noexcept;
  void start() noexcept;
  void start_publishing() noexcept;
  void start_recording() noexcept;
  void publish_layer() noexcept;
  void report(bool keeps_files) noexcept;

  struct Place {
    alignas(ServedDevice) std::byte bytes[sizeof(ServedDevice)];
  };

  bool is_wanted_ = true;
  std::atomic<bool> is_look_due_{false};
  std::atomic<bool> has_several_drivers_{false};  // written under mutex_
  std::atomic<bool> is_visible_{false};           // written under mutex_
  bool lacks_fill_ = false;                       // guarded by mutex_: TIDEMARK_FILL asks for what a driver can't do
  bool has_warned_of_fill_ = false;               // guarded by mutex_
  std::atomic<bool> had_out_of_memory_{false};
  std::uint64_t started_ns_ = 0;
  bool is_started_ = false;  // guarded by mutex_
  OutOfMemorySnapshots snapshots_;
  Phases phases_;
  // By phase and device; written when a range begins, and left alone until then.
  std::array<std::array<std::uint64_t, kMostDevices>, alloc::DeviceCache::kPhaseSlots> allocated_at_begin_;
  OptionWarnings warnings_;
  Options options_;
  // What else is loaded, as of the count of loads before it was looked at; guarded by mutex_.
  Situation situation_;
  PoolSwitches pool_switches_;  // as the program's thread read them
  std::uint64_t situation_loads_ = 0;
  bool is_counting_applied_ = false;  // told to every device and viewer
  segment::InnerPool applied_pool_ = segment::InnerPool::None;
  alloc::SegmentMap segments_;
  publish::Publisher publisher_;
  OtherKinds kinds_{*this, publisher_};
  // Held while a device is made or shown, never on a hit. No std::mutex: it can throw, and what it throws brings a
  // constructor of libstdc++'s into every process (tests/gates).
  alloc::DeviceLock mutex_;
  std::atomic<std::size_t> count_{0};
  std::array<Place, kMostDevices> places_;
};

// Where it lives, and whether it does: asked by every hook, so within reach of all.
struct ProcessRuntime {
  ForkWord fork_word;
  alignas(Runtime) std::byte storage[sizeof(Runtime)]{};

  [[nodiscard]] Runtime& stored() noexcept { return *std::launder(reinterpret_cast<Runtime*>(storage)); }
};
extern constinit ProcessRuntime process_runtime;

// The runtime of this process; null: every hook only forwards, also before the first allocation call.
[[nodiscard]] inline Runtime* runtime_if_built() noexcept {
  return process_runtime.fork_word.load() == BuildState::Ready ? &process_runtime.stored() : nullptr;
}

[[nodiscard]] Runtime* build_runtime_now() noexcept;

// The same, built now if it is not there yet.
[[nodiscard]] inline Runtime* build_runtime() noexcept {
  Runtime* const built = runtime_if_built();
  return built != nullptr ? built : build_runtime_now();
}

}  // namespace tidemark::runtime
