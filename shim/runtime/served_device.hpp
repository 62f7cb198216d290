// One device of this process: its driver below, its cache, its counters' way out. Made in place, never destroyed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "shared/segment/process_words.hpp"
#include "shim/alloc/device_cache.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/publish/device_sink.hpp"
#include "shim/runtime/out_of_memory_observers.hpp"

namespace tidemark::runtime {

enum class Layer : std::uint8_t { CudaDriver, CudaRuntime, Mtia };

// As in "cuda:0".
[[nodiscard]] constexpr const char* backend_text(Layer layer) noexcept {
  return layer == Layer::Mtia ? "mtia" : "cuda";
}

// Two runtimes that end in no driver of ours each have their own idea of device 0.
struct DeviceKey {
  Layer layer = Layer::Mtia;
  std::uint8_t runtime = 0;
  std::uint16_t ordinal = 0;

  bool operator==(const DeviceKey&) const = default;
};

class ServedDevice {
 public:
  // Room for any backend's Upstream: they hold a reference or two.
  class UpstreamPlace {
   public:
    template <class Upstream, class... Arguments>
    alloc::Upstream& emplace(Arguments&&... arguments) noexcept {
      static_assert(sizeof(Upstream) <= kRoom);
      static_assert(alignof(Upstream) <= alignof(std::max_align_t));
      return *new (bytes_) Upstream(std::forward<Arguments>(arguments)...);
    }

   private:
    static constexpr std::size_t kRoom = 64;
    alignas(std::max_align_t) std::byte bytes_[kRoom];
  };

  ServedDevice(DeviceKey key, const segment::DeviceInfo& info) noexcept : key_(key), sink_(info) {}

  [[nodiscard]] DeviceKey key() const noexcept { return key_; }
  [[nodiscard]] UpstreamPlace& upstream_place() noexcept { return upstream_; }
  [[nodiscard]] publish::DeviceSink& sink() noexcept { return sink_; }

  void make_cache(alloc::Upstream& upstream, alloc::SegmentMap& segments, const alloc::Policy& policy,
                  Bytes capacity) noexcept {
    new (cache_) alloc::DeviceCache(upstream, &sink_, segments, policy, capacity);
    cache().set_out_of_memory_observer(new (relay_) OutOfMemoryRelay(key_.ordinal, cache()));
  }
  // Requires: make_cache() was called.
  [[nodiscard]] alloc::DeviceCache& cache() noexcept {
    return *std::launder(reinterpret_cast<alloc::DeviceCache*>(cache_));
  }

  // For backends without context ids: what a device reset ends.
  [[nodiscard]] alloc::ContextId generation() const noexcept {
    return alloc::ContextId{generation_.load(std::memory_order_acquire)};
  }
  void begin_next_generation() noexcept { generation_.fetch_add(1, std::memory_order_acq_rel); }

  // False: below a runtime of its own nobody sees memory of other kinds.
  [[nodiscard]] bool counts_kinds() const noexcept { return key_.layer != Layer::CudaRuntime; }

  [[nodiscard]] bool is_visible() const noexcept { return is_visible_.load(std::memory_order_acquire); }
  void set_visible() noexcept { is_visible_.store(true, std::memory_order_release); }

 private:
  const DeviceKey key_;
  publish::DeviceSink sink_;
  UpstreamPlace upstream_;
  alignas(alloc::DeviceCache) std::byte cache_[sizeof(alloc::DeviceCache)];
  alignas(OutOfMemoryRelay) std::byte relay_[sizeof(OutOfMemoryRelay)];
  std::atomic<std::uint64_t> generation_{1};
  std::atomic<bool> is_visible_{false};
};

}  // namespace tidemark::runtime
