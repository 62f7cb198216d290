#include "shim/backend/capture_gate.hpp"

#include <sched.h>
#include <time.h>

#include <new>

#include "shim/alloc/mapped_array.hpp"

namespace tidemark::backend {
namespace {

constexpr std::int64_t kPatienceNs = 1'000'000'000;

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The legacy default stream is the null pointer, which marks a free place; it cannot be captured, but may be asked for.
const void* name_of(const void* stream) noexcept {
  static constexpr char kDefaultStream = 0;
  return stream == nullptr ? &kDefaultStream : stream;
}

}  // namespace

void CaptureGate::announce() noexcept {
  word_.fetch_add(kOneCapture, std::memory_order_acq_rel);
  wait_for_helpers();
}

void CaptureGate::begin_exclusive() noexcept {
  exclusive_.fetch_add(1, std::memory_order_seq_cst);
  wait_for_helpers();
}

void CaptureGate::wait_for_helpers() noexcept {
  const auto is_busy = [this] { return (word_.load(std::memory_order_seq_cst) & (kOneCapture - 1)) != 0; };
  if (!is_busy()) {
    return;
  }
  const std::int64_t limit = monotonic_ns() + kPatienceNs;
  while (is_busy() && monotonic_ns() < limit) {
    sched_yield();
  }
}

void CaptureGate::withdraw() noexcept { word_.fetch_sub(kOneCapture, std::memory_order_acq_rel); }

template <class Visit>
bool CaptureGate::find_place(Visit&& visit) noexcept {
  for (Places* places = &places_; places != nullptr; places = places->more.load(std::memory_order_acquire)) {
    for (Place& place : places->some) {
      if (visit(place)) {
        return true;
      }
    }
  }
  return false;
}

CaptureGate::Places* CaptureGate::more_than(Places& places) noexcept {
  Places* more = places.more.load(std::memory_order_acquire);
  if (more != nullptr) {
    return more;
  }
  void* const pages = alloc::move_pages(nullptr, 0, sizeof(Places));
  if (pages == nullptr) {
    return nullptr;
  }
  auto* const made = new (pages) Places;
  if (!places.more.compare_exchange_strong(more, made, std::memory_order_acq_rel)) {
    alloc::unmap_pages(pages, sizeof(Places));
    return more;  // another thread's
  }
  return made;
}

void CaptureGate::begun(const void* stream, const void* context) noexcept {
  for (Places* places = &places_; places != nullptr; places = more_than(*places)) {
    for (Place& place : places->some) {
      const void* none = nullptr;
      if (place.stream.compare_exchange_strong(none, name_of(stream), std::memory_order_acq_rel)) {
        place.context.store(context, std::memory_order_release);
        return;
      }
    }
  }
}

void CaptureGate::ended(const void* stream) noexcept {
  const bool had_begun = is_open() && find_place([&](Place& place) {
                           const void* expected = name_of(stream);
                           return place.stream.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
                         });
  if (had_begun) {
    withdraw();
  }
}

void CaptureGate::context_ended(const void* context) noexcept {
  (void)find_place([&](Place& place) {
    const void* stream = place.stream.load(std::memory_order_acquire);
    if (stream != nullptr && place.context.load(std::memory_order_acquire) == context &&
        place.stream.compare_exchange_strong(stream, nullptr, std::memory_order_acq_rel)) {
      withdraw();
    }
    return false;
  });
}

bool CaptureGate::enter_slowly(InCapture in_capture) noexcept {
  const bool minds_captures = in_capture == InCapture::Refused;
  for (;;) {
    if (minds_captures && is_open()) {
      return false;
    }
    while (exclusive_.load(std::memory_order_acquire) != 0) {
      sched_yield();
    }
    const bool is_announced = (word_.fetch_add(1, std::memory_order_seq_cst) >> kCaptureShift) != 0 && minds_captures;
    if (!is_announced && exclusive_.load(std::memory_order_seq_cst) == 0) {
      return true;
    }
    leave();  // one of the two came in between
    if (is_announced) {
      return false;
    }
  }
}

}  // namespace tidemark::backend
