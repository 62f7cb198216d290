// Allocations of the CUDA driver that are not cached: forwarded, and tried once more after an out-of-memory when our
// cache held memory that it can give back. What succeeds without us must not fail because of us.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/export.hpp"
#include "shim/hook/kept_errno.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/cuda_driver_calls.hpp"

using tidemark::backend::real_cuda;

namespace {

// Not noexcept, so that a cancellation of the thread inside the driver's call goes its way as without us.
template <class Real>
CUresult with_room(Real&& real) {
  const CUresult code = real();
  if (code != CUDA_ERROR_OUT_OF_MEMORY) {
    return code;
  }
  {
    const tidemark::hook::KeptErrno kept_errno;
    const tidemark::hook::ReentryGuard guard;
    auto* runtime = guard.is_reentrant() ? nullptr : tidemark::runtime::runtime_if_built();
    if (runtime == nullptr || !tidemark::runtime::CudaDriverCalls{*runtime}.make_room()) {
      return code;
    }
  }
  return real();
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* ptr, size_t* pitch, size_t width, size_t height,
                                            unsigned element) {
  return with_room([&] { return real_cuda().cuMemAllocPitch_v2(ptr, pitch, width, height, element); });
}

TIDEMARK_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* ptr, size_t size, unsigned flags) {
  return with_room([&] { return real_cuda().cuMemAllocManaged(ptr, size, flags); });
}

TIDEMARK_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* ptr, size_t size, CUstream stream) {
  return with_room([&] { return real_cuda().cuMemAllocAsync(ptr, size, stream); });
}

TIDEMARK_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* ptr, size_t size, CUstream stream) {
  return with_room([&] { return real_cuda().cuMemAllocAsync_ptsz(ptr, size, stream); });
}

TIDEMARK_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* ptr, size_t size, CUmemoryPool pool, CUstream stream) {
  return with_room([&] { return real_cuda().cuMemAllocFromPoolAsync(ptr, size, pool, stream); });
}

TIDEMARK_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* ptr, size_t size, CUmemoryPool pool,
                                                      CUstream stream) {
  return with_room([&] { return real_cuda().cuMemAllocFromPoolAsync_ptsz(ptr, size, pool, stream); });
}

TIDEMARK_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* what,
                                     unsigned long long flags) {
  return with_room([&] { return real_cuda().cuMemCreate(handle, size, what, flags); });
}

TIDEMARK_EXPORT CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* what) {
  return with_room([&] { return real_cuda().cuArrayCreate_v2(array, what); });
}

TIDEMARK_EXPORT CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* what) {
  return with_room([&] { return real_cuda().cuArray3DCreate_v2(array, what); });
}

TIDEMARK_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* what,
                                                unsigned levels) {
  return with_room([&] { return real_cuda().cuMipmappedArrayCreate(array, what, levels); });
}

}  // extern "C"
