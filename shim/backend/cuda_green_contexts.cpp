#include "shim/backend/cuda_green_contexts.hpp"

#include <algorithm>

namespace tidemark::backend {

void CudaGreenContexts::note(CUgreenCtx green, const Known& known) noexcept {
  for (Place& place : places_) {
    bool is_taken = false;
    if (place.is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acq_rel)) {
      place.device.store(known.device, std::memory_order_release);
      place.converted.store(known.converted, std::memory_order_release);
      place.green.store(green, std::memory_order_release);
      return;
    }
  }
}

void CudaGreenContexts::note_converted(CUgreenCtx green, CUcontext converted) noexcept {
  for (Place& place : places_) {
    if (place.green.load(std::memory_order_acquire) == green) {
      place.converted.store(converted, std::memory_order_release);
    }
  }
}

std::optional<CudaGreenContexts::Known> CudaGreenContexts::take(CUgreenCtx green) noexcept {
  for (Place& place : places_) {
    CUgreenCtx expected = green;
    if (green == nullptr || !place.green.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) {
      continue;
    }
    const Known known{.device = place.device.load(std::memory_order_acquire),
                      .converted = place.converted.exchange(nullptr, std::memory_order_acq_rel)};
    place.is_taken.store(false, std::memory_order_release);
    return known;
  }
  return std::nullopt;
}

bool CudaGreenContexts::is_converted(CUcontext handle) const noexcept {
  return handle != nullptr && std::any_of(places_.begin(), places_.end(), [handle](const Place& place) {
           return place.converted.load(std::memory_order_acquire) == handle;
         });
}

}  // namespace tidemark::backend
