// Marks in the work of CUDA contexts: "all that was submitted so far". One mark covers every live context whose work
// may use the owner's memory (DESIGN D5).
//
// Threads: any. Uses cuCtxRecordEvent, which covers non-blocking streams too and exists from CUDA 12.5 on; with an
// older driver, or more contexts or marks than there is room for, record() says Unsupported and the caller waits
// instead. The caller keeps captures away (CaptureGate).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/backend/cuda_contexts.hpp"

namespace tidemark::backend {

class CudaFences {
 public:
  static constexpr std::size_t kMostMarks = 256;
  static constexpr std::size_t kMostContexts = 8;

  Result<alloc::FenceToken> record(const CudaContexts& contexts, alloc::ContextId owner) noexcept;

  // True ends the mark, and so does an error.
  Result<bool> is_done(const CudaContexts& contexts, alloc::ContextId owner, alloc::FenceToken token) noexcept;

  void drop(alloc::FenceToken token) noexcept;

 private:
  struct Event {
    alloc::ContextId context{};
    CUevent event = nullptr;
  };
  // A free mark keeps its events: the next one in the same contexts needs no new ones.
  struct Mark {
    std::atomic<bool> is_taken{false};
    std::size_t count = 0;
    std::array<Event, kMostContexts> events{};
  };

  [[nodiscard]] Mark* mark_of(alloc::FenceToken token) noexcept;
  static Status record_in(const CudaContexts& contexts, Event& event, CUcontext handle,
                          alloc::ContextId context) noexcept;

  std::array<Mark, kMostMarks> marks_{};
};

}  // namespace tidemark::backend
