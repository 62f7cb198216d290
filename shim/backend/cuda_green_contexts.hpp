// The green contexts of the process: of which device each is, and by which CUcontext threads make it current. A green
// context is a part of its device's primary context (cuda.h, CUDA_GREEN_CONTEXTS): it holds the primary one, what is
// allocated in it is the primary's memory, and a wait for the primary one covers it, though not the other way round.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

#include "shim/backend/cuda_symbols.hpp"

namespace tidemark::backend {

class CudaGreenContexts {
 public:
  // As many live ones as we can know; the memory of further ones is left to the driver.
  static constexpr std::size_t kMost = 128;

  struct Known {
    CUdevice device = 0;
    CUcontext converted = nullptr;  // by cuCtxFromGreenCtx; null: not yet
  };

  void note(CUgreenCtx green, const Known& known) noexcept;
  void note_converted(CUgreenCtx green, CUcontext converted) noexcept;
  // Takes it out.
  [[nodiscard]] std::optional<Known> take(CUgreenCtx green) noexcept;
  [[nodiscard]] bool is_converted(CUcontext handle) const noexcept;

 private:
  struct Place {
    std::atomic<bool> is_taken{false};  // by the thread that fills it
    std::atomic<CUgreenCtx> green{nullptr};
    std::atomic<CUcontext> converted{nullptr};
    std::atomic<CUdevice> device{0};
  };

  std::array<Place, kMost> places_{};
};

}  // namespace tidemark::backend
