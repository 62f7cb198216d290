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
#include "shim/runtime/served_device.hpp"

namespace tidemark::runtime {

class Runtime {
 public:
  static constexpr std::size_t kMostDevices = segment::kDeviceSlots;

  Runtime() noexcept;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // False: TIDEMARK_MODE=off or TIDEMARK_SKIP; every hook only forwards.
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

  template <class Visit>
  void for_each_device(Layer layer, Visit&& visit) noexcept {
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      if (place(i).key().layer == layer) {
        visit(place(i));
      }
    }
  }

  // The cache that owns an address; null: not ours.
  [[nodiscard]] alloc::DeviceCache* owner_of(alloc::DevicePtr ptr) const noexcept { return segments_.owner_of(ptr); }

  // After a call on `device` that succeeded: from the first one on, the process and the device are visible.
  void after_success(ServedDevice& device) noexcept {
    if (!device.is_visible()) [[unlikely]] {
      show(device);
    }
    after_call();
  }

  // After any other call that was ours.
  void after_call() noexcept { publisher_.after_program_call(); }

  // After an allocation on `device` that failed: remembered and said if it was for want of memory, counted if
  // the fault was ours.
  void after_failure(ServedDevice& device, const Error& error) noexcept;

  // The end of the process. Takes no device's lock: exit() may be called in a signal handler that interrupted its
  // holder.
  void finish() noexcept;

 private:
  ServedDevice& make_place(DeviceKey key, const backend::DeviceIdentity& identity) noexcept;
  ServedDevice& place(std::size_t index) noexcept {
    return *std::launder(reinterpret_cast<ServedDevice*>(places_[index].bytes));
  }
  alloc::Policy policy_for(DeviceKey key, const backend::DeviceIdentity& identity,
                           const alloc::Upstream& upstream) noexcept;
  [[nodiscard]] alloc::Fill fill_for(const alloc::Upstream& upstream) noexcept;
  void show(ServedDevice& device) noexcept;
  void start() noexcept;
  void publish_layer() noexcept;

  struct Place {
    alignas(ServedDevice) std::byte bytes[sizeof(ServedDevice)];
  };

  bool is_wanted_ = true;
  bool is_started_ = false;          // guarded by mutex_
  bool lacks_fill_ = false;          // guarded by mutex_: TIDEMARK_FILL asks for what a driver can't do
  bool has_warned_of_fill_ = false;  // guarded by mutex_
  std::atomic<bool> had_out_of_memory_{false};
  OptionWarnings warnings_;
  Options options_;
  alloc::SegmentMap segments_;
  publish::Publisher publisher_;
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
