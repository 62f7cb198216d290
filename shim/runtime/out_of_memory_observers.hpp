// The program's own functions to be called when an allocation fails for want of memory (the client library attaches
// them). Outside the Runtime: a forked child has its parent's.
//
// Threads: any. An observer that is detached may just be running in another thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/base/shim_table.hpp"
#include "shim/alloc/out_of_memory.hpp"

namespace tidemark::alloc {
class DeviceCache;
}

namespace tidemark::runtime {

class OutOfMemoryObservers {
 public:
  static constexpr std::size_t kMost = 64;

  // False: kMost are attached.
  [[nodiscard]] bool attach(ShimObserver observer, void* data) noexcept;
  // False: it is none. The one attached last, if it was more than once.
  [[nodiscard]] bool detach(ShimObserver observer, void* data) noexcept;

  [[nodiscard]] bool empty() const noexcept;
  // Each that is attached already, in the order in which they were attached.
  void call(std::int32_t device, std::int64_t size, std::int64_t total, std::int64_t free) const noexcept;

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint64_t kChanging = ~std::uint64_t{0};

  // `turn`: free, being filled, or the number of the attachment, which is never given again. Who reads it before and
  // behind the other two, and finds the same, has the two of one attachment, also where the place has had several.
  struct Place {
    std::atomic<std::uint64_t> turn{kFree};
    std::atomic<void*> data{nullptr};
    std::atomic<ShimObserver> observer{nullptr};
  };
  struct Attached {
    std::uint64_t turn = kFree;
    ShimObserver observer = nullptr;
    void* data = nullptr;
  };
  // kFree: nobody there, or just changing.
  [[nodiscard]] static Attached read(const Place& place) noexcept;
  // The first behind that turn, up to `last`.
  [[nodiscard]] Attached next(std::uint64_t behind, std::uint64_t last) const noexcept;

  std::atomic<std::uint64_t> attached_{0};  // turns ever given
  std::array<Place, kMost> places_;
};
extern constinit OutOfMemoryObservers out_of_memory_observers;

// What one device's cache tells them. In their words: the program's own size, since that was asked for last; the limit,
// if there is one, as the device's total.
class OutOfMemoryRelay final : public alloc::OutOfMemoryObserver {
 public:
  // Requires: `cache` outlives it.
  OutOfMemoryRelay(std::uint32_t ordinal, alloc::DeviceCache& cache) noexcept : ordinal_(ordinal), cache_(cache) {}

  void out_of_memory(const alloc::OutOfMemoryRecord& record) noexcept override;

 private:
  const std::uint32_t ordinal_;
  alloc::DeviceCache& cache_;
};

}  // namespace tidemark::runtime
