// The CUDA contexts that were created, retained or allocated from: their ids, which outlive their handles, and how to
// get back into one.
//
// Threads: any. A context is added when it is first met and never removed, only marked ended: an id is unique for the
// life of the process (cuda.h, cuCtxGetId), a handle may come again for another context.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "shim/alloc/device_types.hpp"
#include "shim/backend/cuda_symbols.hpp"

namespace tidemark::backend {

// Where the calling thread's allocations go.
struct CudaPlace {
  int device = 0;
  alloc::ContextId context{};
};

class CudaContexts {
 public:
  // Also the most a process can have live before we leave further ones alone (they are forwarded).
  static constexpr std::size_t kMost = 256;

  // The calling thread's current context; none without one, or while the driver refuses.
  [[nodiscard]] std::optional<CudaPlace> current() noexcept;

  // The id of a live context that we know; none for any other handle. Asks no driver.
  [[nodiscard]] std::optional<alloc::ContextId> find(CUcontext handle) const noexcept;

  // Does the driver still know this handle?
  [[nodiscard]] static bool is_alive(CUcontext handle) noexcept;

  // The primary context of a device, if it is active now.
  [[nodiscard]] static std::optional<CUcontext> active_primary(CUdevice device) noexcept;

  // Null for an id that was never met or has ended.
  [[nodiscard]] CUcontext handle_of(alloc::ContextId context) const noexcept;

  void mark_ended(alloc::ContextId context) noexcept;

  // A context that was created or retained: its work counts in fences, whether or not it ever allocates.
  void note(CUcontext handle) noexcept;

  // Calls `visit(ContextId, CUcontext)` for each context that has not ended, until it says false.
  template <class Visit>
  void for_each_live(Visit&& visit) const noexcept {
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      const Entry& entry = entries_[i];
      CUcontext const handle = entry.handle.load(std::memory_order_acquire);
      if (handle != nullptr && !entry.ended.load(std::memory_order_acquire) &&
          !visit(alloc::ContextId{entry.id.load(std::memory_order_acquire)}, handle)) {
        return;
      }
    }
  }

 private:
  [[nodiscard]] static std::optional<alloc::ContextId> id_of(CUcontext handle) noexcept;

  struct Entry {
    std::atomic<CUcontext> handle{nullptr};
    std::atomic<std::uint64_t> id{0};
    std::atomic<bool> ended{false};
  };

  [[nodiscard]] bool remember(CUcontext handle, alloc::ContextId id) noexcept;

  std::array<Entry, kMost> entries_{};
  std::atomic<std::size_t> count_{0};
  // Raised whenever a context may have ended: what a thread remembers of its current context is void then.
  std::atomic<std::uint64_t> epoch_{1};
};

// Makes a context current while it lives and restores what was; nothing is pushed where it is current already.
class ContextScope {
 public:
  explicit ContextScope(CUcontext wanted) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  [[nodiscard]] CUresult status() const noexcept { return status_; }

 private:
  CUresult status_ = CUDA_SUCCESS;
  bool pushed_ = false;
};

}  // namespace tidemark::backend
