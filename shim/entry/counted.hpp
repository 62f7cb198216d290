// Calls that allocate and free memory which is counted and not cached. They are the driver's; ours keep the books.
//
// None is noexcept: a cancellation of the thread inside the driver's call goes its way as without us.
#pragma once

#include <cstdint>

#include "shim/entry/intercept.hpp"
#include "shim/hook/kept_errno.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/call_counts.hpp"
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

// The driver's call that gives memory back whose record was taken out before: it stays out if the driver takes it.
template <class Real>
CUresult given_back(runtime::Runtime& runtime, const runtime::TakenKind& taken, Real&& real) {
  const CUresult code = real();
  if (taken) {
    runtime::CudaKindCalls calls{runtime};
    beside([&] { code == CUDA_SUCCESS ? calls.settle(*taken) : calls.put_back(*taken); });
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
  runtime::TakenKind taken;
  beside([&] { taken = runtime::CudaKindCalls{*runtime}.take(space, name); });
  return given_back(*runtime, taken, real);
}
template <class Real>
CUresult uncounted(runtime::KindSpace space, const void* handle, Real&& real) {
  return uncounted(space, reinterpret_cast<std::uint64_t>(handle), real);
}

// A free of memory that is not cached. Whose it is if no book knows it, the driver says.
template <class Real>
CUresult freed(CUdeviceptr ptr, Real&& real) {
  runtime::Runtime* const runtime = runtime::runtime_if_built();
  if (runtime == nullptr || ptr == 0) {
    return real();
  }
  runtime::TakenKind taken;
  beside([&] {
    taken = runtime->kinds().is_empty() ? std::nullopt
                                        : runtime::CudaKindCalls{*runtime}.take(runtime::KindSpace::Device, ptr);
    if (!taken) {
      runtime::call_counts.foreign_frees.fetch_add(1, std::memory_order_relaxed);
    }
  });
  return given_back(*runtime, taken, real);
}

}  // namespace tidemark::entry
