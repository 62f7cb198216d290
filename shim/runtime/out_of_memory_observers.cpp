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
  for (Place& place : places_) {
    std::uint64_t free = kFree;
    if (!place.turn.compare_exchange_strong(free, kChanging, std::memory_order_acq_rel)) {
      continue;
    }
    place.data.store(data, std::memory_order_release);
    place.observer.store(observer, std::memory_order_release);
    place.turn.store(attached_.fetch_add(1, std::memory_order_acq_rel) + 1, std::memory_order_release);
    return true;
  }
  return false;
}

bool OutOfMemoryObservers::detach(ShimObserver observer, void* data) noexcept {
  for (;;) {
    Place* last = nullptr;
    std::uint64_t last_turn = kFree;
    for (Place& place : places_) {
      const Attached attached = read(place);
      if (attached.turn > last_turn && attached.observer == observer && attached.data == data) {
        last = &place;
        last_turn = attached.turn;
      }
    }
    if (last == nullptr) {
      return false;
    }
    // A turn is nobody else's ever, so it is still this observer's. Else another thread was faster: look again.
    if (last->turn.compare_exchange_strong(last_turn, kFree, std::memory_order_acq_rel)) {
      return true;
    }
  }
}

bool OutOfMemoryObservers::empty() const noexcept {
  return std::all_of(places_.begin(), places_.end(),
                     [](const Place& place) { return place.turn.load(std::memory_order_acquire) == kFree; });
}

OutOfMemoryObservers::Attached OutOfMemoryObservers::read(const Place& place) noexcept {
  const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
  const Attached attached{.turn = turn,
                          .observer = place.observer.load(std::memory_order_acquire),
                          .data = place.data.load(std::memory_order_acquire)};
  const bool is_of_one = turn != kChanging && place.turn.load(std::memory_order_relaxed) == turn;
  return is_of_one ? attached : Attached{};
}

OutOfMemoryObservers::Attached OutOfMemoryObservers::next(std::uint64_t behind, std::uint64_t last) const noexcept {
  Attached found;
  for (const Place& place : places_) {
    const Attached attached = read(place);
    if (attached.turn > behind && attached.turn <= last && (found.turn == kFree || attached.turn < found.turn)) {
      found = attached;
    }
  }
  return found;
}

void OutOfMemoryObservers::call(std::int32_t device, std::int64_t size, std::int64_t total,
                                std::int64_t free) const noexcept {
  if (is_observing) {
    return;
  }
  is_observing = true;
  // One that attaches others would else be followed by them without an end.
  const std::uint64_t last = attached_.load(std::memory_order_acquire);
  for (Attached each = next(kFree, last); each.turn != kFree; each = next(each.turn, last)) {
    each.observer(device, size, total, free, each.data);
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
