#include "shim/runtime/out_of_memory_observers.hpp"

#include <algorithm>
#include <limits>

#include "shim/alloc/device_cache.hpp"
#include "shim/hook/kept_errno.hpp"
#include "shim/hook/reentry_guard.hpp"

namespace tidemark::runtime {
namespace {

// An observer that runs out of memory itself would be called for that, and so on.
constinit thread_local bool is_observing __attribute__((tls_model("initial-exec"))) = false;

std::int64_t to_signed(std::uint64_t bytes) noexcept {
  return static_cast<std::int64_t>(
      std::min(bytes, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

// Of its own, so that all the counters aren't on the stack together with what an observer does.
[[gnu::noinline]] std::uint64_t total_of(alloc::DeviceCache& cache, std::uint64_t driver_total) noexcept {
  const DeviceBasis basis = cache.counters();
  const std::uint64_t total = driver_total != 0 ? driver_total : basis[BasisWord::capacity_bytes];
  const std::uint64_t limit = basis[BasisWord::limit_bytes];
  return limit != 0 ? std::min(limit, total) : total;
}

}  // namespace

constinit OutOfMemoryObservers out_of_memory_observers;

bool OutOfMemoryObservers::attach(ShimObserver observer, void* data) noexcept {
  std::size_t place = count_.load(std::memory_order_relaxed);
  do {
    if (place == kMost) {
      return false;
    }
  } while (!count_.compare_exchange_weak(place, place + 1, std::memory_order_acq_rel));
  places_[place].data.store(data, std::memory_order_relaxed);
  places_[place].observer.store(observer, std::memory_order_release);
  return true;
}

bool OutOfMemoryObservers::detach(ShimObserver observer, void* data) noexcept {
  for (std::size_t i = std::min(count_.load(std::memory_order_acquire), kMost); i-- > 0;) {
    ShimObserver attached = observer;
    if (places_[i].data.load(std::memory_order_relaxed) == data &&
        places_[i].observer.compare_exchange_strong(attached, nullptr, std::memory_order_acq_rel)) {
      return true;
    }
  }
  return false;
}

void OutOfMemoryObservers::call(std::int32_t device, std::int64_t size, std::int64_t total,
                                std::int64_t free) const noexcept {
  if (is_observing) {
    return;
  }
  is_observing = true;
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (const ShimObserver observer = places_[i].observer.load(std::memory_order_acquire); observer != nullptr) {
      observer(device, size, total, free, places_[i].data.load(std::memory_order_relaxed));
    }
  }
  is_observing = false;
}

void OutOfMemoryRelay::out_of_memory(const alloc::OutOfMemoryRecord& record) noexcept {
  if (out_of_memory_observers.empty()) {
    return;
  }
  const std::uint64_t total = total_of(cache_, record.device_total.count());
  const hook::KeptErrno kept_errno;
  const hook::CancellationAway cancellation;  // through our frames nothing can be unwound
  const hook::ProgramScope program;
  out_of_memory_observers.call(static_cast<std::int32_t>(ordinal_), to_signed(record.requested.count()),
                               to_signed(total), to_signed(record.device_free.count()));
}

}  // namespace tidemark::runtime
