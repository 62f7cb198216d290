#include "shim/backend/capture_gate.hpp"

#include <sched.h>
#include <time.h>

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
  const auto is_busy = [this] { return (word_.load(std::memory_order_acquire) & (kOneCapture - 1)) != 0; };
  if (!is_busy()) {
    return;
  }
  const std::int64_t limit = monotonic_ns() + kPatienceNs;
  while (is_busy() && monotonic_ns() < limit) {
    sched_yield();
  }
}

void CaptureGate::withdraw() noexcept { word_.fetch_sub(kOneCapture, std::memory_order_acq_rel); }

void CaptureGate::begun(const void* stream, const void* context) noexcept {
  for (Place& place : places_) {
    const void* none = nullptr;
    if (place.stream.compare_exchange_strong(none, name_of(stream), std::memory_order_acq_rel)) {
      place.context.store(context, std::memory_order_release);
      return;
    }
  }
}

void CaptureGate::ended(const void* stream) noexcept {
  for (Place& place : places_) {
    const void* expected = name_of(stream);
    if (place.stream.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) {
      withdraw();
      return;
    }
  }
}

void CaptureGate::context_ended(const void* context) noexcept {
  for (Place& place : places_) {
    const void* stream = place.stream.load(std::memory_order_acquire);
    if (stream != nullptr && place.context.load(std::memory_order_acquire) == context &&
        place.stream.compare_exchange_strong(stream, nullptr, std::memory_order_acq_rel)) {
      withdraw();
    }
  }
}

bool CaptureGate::enter() noexcept {
  if (is_open()) {
    return false;
  }
  if ((word_.fetch_add(1, std::memory_order_acq_rel) >> kCaptureShift) != 0) {
    leave();  // one was announced in between
    return false;
  }
  return true;
}

}  // namespace tidemark::backend
