// The books of memory that is counted and not cached (DESIGN D7): what of each kind there is on each device and on the
// host, and by which name each piece is given back. Cost is a hash table under one lock: these calls take the driver
// microseconds.
//
// Threads: any. Whoever frees takes the record out before the driver's call, since from then on another thread can be
// given the same name, and puts it back if the call fails. Errors: none; what finds no host memory stays uncounted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "shared/base/kind_counts.hpp"
#include "shim/alloc/device_lock.hpp"
#include "shim/alloc/device_types.hpp"
#include "shim/alloc/kind_map.hpp"
#include "shim/alloc/node_table.hpp"

namespace tidemark::alloc {

// Hears of changes, under the books' lock. Must not block for long or call back.
class KindSink {
 public:
  virtual ~KindSink() = default;

  // `held_change`: bytes by which memory on the device grew or, negative, shrank.
  virtual void device_changed(std::uint32_t place, const DeviceKindCounts& counts,
                              std::int64_t held_change) noexcept = 0;
  virtual void host_changed(const HostKindCounts& counts) noexcept = 0;
};

class KindBooks {
 public:
  static constexpr std::size_t kMostPlaces = 16;
  static constexpr std::uint32_t kHostPlace = ~std::uint32_t{0};

  // Requires: the sink outlives the books.
  explicit KindBooks(KindSink& sink) noexcept : sink_(sink) {}

  // No memory of any kind is known: the one look that a free of something else costs.
  [[nodiscard]] bool is_empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }

  // Memory that the driver just handed out. A record under the same name is out of date: its memory ended without a
  // call of ours. Requires: space is none of the physical ones; place < kMostPlaces or kHostPlace.
  void add(const KindRecord& record) noexcept;
  // The same name was handed out once more (an IPC handle that is open already), or add().
  void open(const KindRecord& record) noexcept;

  // Before a free, which is settled or put back by the driver's answer. None: not known. Of a record that has to be
  // given back several times only one is taken.
  [[nodiscard]] std::optional<KindRecord> take(KindSpace space, std::uint64_t name) noexcept;
  void settle(const KindRecord& taken) noexcept;
  void put_back(const KindRecord& taken) noexcept;

  // A context is gone, and with it what it owned.
  void end_context(ContextId context) noexcept;

  // Physical memory: counted from its creation until no handle and no mapping is left.

  void create(std::uint64_t handle, const KindRecord& what) noexcept;  // what: place, kind and size
  // A handle that was imported: memory of our own keeps its handle, and has to be released once more.
  void import_handle(std::uint64_t handle, const KindRecord& what) noexcept;
  void retain(std::uint64_t handle, std::uint64_t mapped_address) noexcept;
  void map(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::uint64_t handle) noexcept;
  void unmap(std::uint64_t address, std::uint64_t size) noexcept;
  // A handle is given back by take() from KindSpace::Handle.

  // Peaks := current. Requires: place < kMostPlaces or kHostPlace.
  void reset_peaks(std::uint32_t place) noexcept;

  // Tells the sink how it stands, for a segment that came later.
  void publish(std::uint32_t place) noexcept;

  [[nodiscard]] DeviceKindCounts device(std::uint32_t place) noexcept;
  [[nodiscard]] HostKindCounts host() noexcept;

 private:
  struct Physical {
    std::uint64_t size;
    std::uint32_t handles;
    std::uint32_t mappings;
    std::uint32_t place;
    std::uint32_t next_free;  // NodeTable's
    std::uint8_t kind;
    bool grows;  // imported: its size shows only where it is mapped
  };

  [[nodiscard]] KindCount& count_of(std::uint32_t place, std::uint8_t kind) noexcept;
  void count_up(const KindRecord& record, std::uint64_t pieces = 1) noexcept;
  void count_down(const KindRecord& record, std::uint64_t pieces = 1) noexcept;
  void tell(std::uint32_t place, std::uint8_t kind, std::int64_t change) noexcept;
  bool enter(const KindRecord& record) noexcept;
  void leave(KindSpace space, std::uint64_t name) noexcept;
  void drop(const KindRecord& record) noexcept;
  void create_anew(std::uint64_t handle, const KindRecord& what) noexcept;
  void let_go(std::uint32_t physical, std::uint32_t Physical::*references) noexcept;
  [[nodiscard]] KindRecord counted(const Physical& memory) const noexcept;

  KindSink& sink_;
  std::atomic<std::size_t> count_{0};
  DeviceLock lock_;
  // All below under lock_.
  KindMap records_;
  NodeTable<Physical> physical_;
  std::array<DeviceKindCounts, kMostPlaces> devices_{};
  HostKindCounts host_{};
};

}  // namespace tidemark::alloc
