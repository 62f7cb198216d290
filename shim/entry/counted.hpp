// Calls that allocate and free memory which is counted and not cached. They are the driver's; ours keep the books.
//
// None is noexcept: a cancellation of the thread inside the driver's call goes its way as without us.
#pragma once

#include <cstdint>

#include "shim/entry/intercept.hpp"
#include "shim/hook/kept_errno.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/cuda_driver_calls.hpp"
#include "shim/runtime/cuda_kind_calls.hpp"

namespace tidemark::entry {

// The call is tried once more after an out-of-memory when our cache held memory that it can give back. What succeeds
// without us must not fail because of us.
template <class Real>
CUresult with_room(Real&& real) {
  const CUresult code = real();
  if (code != CUDA_ERROR_OUT_OF_MEMORY) {
    return code;
  }
  {
    const hook::KeptErrno kept_errno;
    const hook::ReentryGuard guard;
    auto* runtime = guard.is_reentrant() ? nullptr : runtime::runtime_if_built();
    if (runtime == nullptr || !runtime::CudaDriverCalls{*runtime}.make_room()) {
      return code;
    }
  }
  return real();
}

// book(CudaKindCalls&) after a call that succeeded.
template <class Book>
CUresult booked(CUresult code, Book&& book) noexcept {
  if (code == CUDA_SUCCESS) {
    beside([&] {
      runtime::CudaKindCalls calls{*runtime::runtime_if_built()};
      book(calls);
    });
  }
  return code;
}

// A call that gives `name` back.
template <class Real>
CUresult uncounted(runtime::KindSpace space, std::uint64_t name, Real&& real) {
  runtime::Runtime* const runtime = runtime::runtime_if_built();
  if (runtime == nullptr || runtime->kinds().is_empty()) [[likely]] {
    return real();
  }
  runtime::CudaKindCalls calls{*runtime};
  runtime::TakenKind taken;
  beside([&] { taken = calls.take(space, name); });
  const CUresult code = real();
  if (taken) {
    beside([&] { code == CUDA_SUCCESS ? calls.settle(*taken) : calls.put_back(*taken); });
  }
  return code;
}
template <class Real>
CUresult uncounted(runtime::KindSpace space, const void* handle, Real&& real) {
  return uncounted(space, reinterpret_cast<std::uint64_t>(handle), real);
}

}  // namespace tidemark::entry
