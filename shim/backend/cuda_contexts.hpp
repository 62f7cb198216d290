// The CUDA contexts of the process: their ids, which outlive their handles, and how to get back into one.
//
// Threads: any. A context is entered when it is created or retained; its place is taken over by another once it has
// ended. An id is unique for the life of the process (cuda.h, cuCtxGetId), a handle may come again for another context.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "shim/alloc/device_types.hpp"
#include "shim/backend/cuda_green_contexts.hpp"
#include "shim/backend/cuda_symbols.hpp"

namespace tidemark::backend {

// A question of ours, put once more if it fails: what becomes of the program's memory shall not hang on one call.
template <class Ask>
CUresult asked(Ask&& ask) noexcept {
  const CUresult code = ask();
  return code == CUDA_SUCCESS ? code : ask();
}

// Where the calling thread's allocations go.
struct CudaPlace {
  int device = 0;
  alloc::ContextId context{};
};

// What this thread found last time, so that a hit costs one driver call (cuCtxGetCurrent, a thread-local read) and no
// more.
struct RememberedPlace {
  CUcontext handle = nullptr;
  std::uint64_t epoch = 0;
  CudaPlace place;
};
inline constinit thread_local RememberedPlace remembered_place __attribute__((tls_model("initial-exec"))){};

class CudaContexts {
 public:
  enum class Kind : std::uint8_t { Created, Primary };

  // As many live ones as we can know; the memory of further ones is left to the driver.
  static constexpr std::size_t kMost = 256;

  // The calling thread's current context, a green one's primary; none without one, while the driver refuses, or for a
  // context that is neither a primary one nor was seen at its creation.
  [[nodiscard]] std::optional<CudaPlace> current() noexcept {
    CUcontext handle = nullptr;
    if (real_cuda().cuCtxGetCurrent(&handle) != CUDA_SUCCESS || handle == nullptr) {
      return std::nullopt;
    }
    if (remembered_place.handle == handle && remembered_place.epoch == epoch_.load(std::memory_order_acquire))
        [[likely]] {
      return remembered_place.place;
    }
    return meet(handle);
  }

  // A green context was created, made a CUcontext, and is about to be destroyed: it is then no longer known.
  void note_green(CUgreenCtx green, const CudaGreenContexts::Known& known) noexcept { green_.note(green, known); }
  void note_converted(CUgreenCtx green, CUcontext handle) noexcept { green_.note_converted(green, handle); }
  [[nodiscard]] std::optional<CudaGreenContexts::Known> take_green(CUgreenCtx green) noexcept;

  // A context of `device` was created, or its primary one retained: from now on its work counts in fences.
  void note(CUcontext handle, CUdevice device, Kind kind) noexcept;

  // The id of a live context that we know; none for any other handle. Asks no driver.
  [[nodiscard]] std::optional<alloc::ContextId> find(CUcontext handle) const noexcept;

  // Null for an id that was never met or has ended.
  [[nodiscard]] CUcontext handle_of(alloc::ContextId context) const noexcept;

  // The device's primary context as far as we know it: null where none of its memory can be in our books. Asks no
  // driver.
  [[nodiscard]] CUcontext primary_of(CUdevice device) const noexcept;

  // Before a context is destroyed, so that nobody enters it meanwhile; mark_alive() takes it back if that fails.
  void mark_ended(alloc::ContextId context) noexcept;
  void mark_alive(alloc::ContextId context, CUcontext handle) noexcept;

  // Does the driver still know this handle?
  [[nodiscard]] static bool is_alive(CUcontext handle) noexcept;

  // The primary context of a device, null if it isn't active; none if the driver doesn't say.
  [[nodiscard]] static std::optional<CUcontext> active_primary(CUdevice device) noexcept;
  // Whether the device's primary context is another one by now, or none. While the driver doesn't say: no.
  [[nodiscard]] static bool has_primary_ended(CUdevice device, alloc::ContextId context) noexcept;
  [[nodiscard]] static std::optional<alloc::ContextId> id_of(CUcontext handle) noexcept;

  // Peer access was enabled somewhere: from then on work on one device may use memory of another.
  void note_peer_access() noexcept { has_peers_.store(true, std::memory_order_release); }

  // `handle` is that of `context`, which is the only one we ever met: nobody else's work can use its memory.
  [[nodiscard]] bool is_alone(alloc::ContextId context, CUcontext handle) const noexcept {
    return count_.load(std::memory_order_acquire) == 1 && entries_[0].context() == context &&
           entries_[0].live_handle() == handle;
  }

  // Calls `visit(ContextId, CUcontext)` for each live context whose work may use memory of `owner`, `owner` among them:
  // the contexts of its device, and all others once peer access was seen. Stops when it says false.
  template <class Visit>
  void for_each_user(alloc::ContextId owner, Visit&& visit) const noexcept {
    const bool has_peers = has_peers_.load(std::memory_order_acquire);
    const int device = device_of(owner);
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      const Entry& entry = entries_[i];
      const alloc::ContextId id = entry.context();
      CUcontext const handle = entry.live_handle();
      if (handle != nullptr && (has_peers || entry.device.load(std::memory_order_acquire) == device) &&
          !visit(id, handle)) {
        return;
      }
    }
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> id{0};
    std::atomic<CUcontext> handle{nullptr};  // null: the place is free
    std::atomic<int> device{0};
    std::atomic<Kind> kind{Kind::Created};
    std::atomic<bool> is_taken{false};  // by the thread that fills it

    [[nodiscard]] alloc::ContextId context() const noexcept {
      return alloc::ContextId{id.load(std::memory_order_acquire)};
    }
    [[nodiscard]] CUcontext live_handle() const noexcept { return handle.load(std::memory_order_acquire); }
  };

  [[nodiscard]] std::optional<CudaPlace> meet(CUcontext handle) noexcept;
  [[nodiscard]] std::optional<CudaPlace> place_of_current(CUcontext handle) noexcept;
  [[nodiscard]] bool remember(CUcontext handle, alloc::ContextId id, int device, Kind kind) noexcept;
  [[nodiscard]] const Entry* find_entry(alloc::ContextId context) const noexcept;
  [[nodiscard]] int device_of(alloc::ContextId context) const noexcept;

  CudaGreenContexts green_;
  std::array<Entry, kMost> entries_{};
  std::atomic<std::size_t> count_{0};  // places that were ever used
  std::atomic<bool> has_peers_{false};
  // Raised whenever a context may have ended: what a thread remembers of its current context is void then.
  std::atomic<std::uint64_t> epoch_{1};
};

// Makes a context current while it lives and restores what was; nothing is pushed where it is current already. With
// another status than success the thread is where it was.
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
