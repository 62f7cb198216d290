// Device memory of the CUDA driver that is not cached: rows, managed memory, pools, arrays.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/counted.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"

using tidemark::DeviceKind;
using tidemark::backend::real_cuda;
using tidemark::entry::booked;
using tidemark::entry::uncounted;
using tidemark::entry::with_room;
using tidemark::runtime::CudaKindCalls;
using tidemark::runtime::KindSpace;

namespace uses = tidemark::entry::uses;

namespace {

void noted(tidemark::hook::SymbolUses& uses, bool is_accounted) noexcept {
  if (!is_accounted) {
    uses.count_unaccounted();
  }
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* ptr, size_t* pitch, size_t width, size_t height,
                                            unsigned element) {
  uses::cuMemAllocPitch_v2.entered();
  CUdeviceptr block = 0;
  size_t row = 0;
  const bool has_places = ptr != nullptr && pitch != nullptr;
  CUresult code = with_room([&] {
    return real_cuda().cuMemAllocPitch_v2(has_places ? &block : ptr, has_places ? &row : pitch, width, height, element);
  });
  if (code != CUDA_SUCCESS || !has_places) {
    return code;
  }
  // How large it is only the driver knows, so the limit is asked afterwards.
  (void)booked(code, [&](CudaKindCalls& calls) {
    if (!calls.pitched(block, row * height)) {
      (void)real_cuda().cuMemFree_v2(block);
      code = CUDA_ERROR_OUT_OF_MEMORY;
    }
  });
  if (code == CUDA_SUCCESS) {
    *ptr = block;
    *pitch = row;
  }
  return code;
}

TIDEMARK_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* ptr, size_t size, unsigned flags) {
  uses::cuMemAllocManaged.entered();
  return booked(with_room([&] { return real_cuda().cuMemAllocManaged(ptr, size, flags); }),
                [&](CudaKindCalls& calls) { calls.managed(*ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* ptr, size_t size, CUstream stream) {
  uses::cuMemAllocAsync.entered();
  return booked(with_room([&] { return real_cuda().cuMemAllocAsync(ptr, size, stream); }), [&](CudaKindCalls& calls) {
    noted(uses::cuMemAllocAsync, calls.pooled(DeviceKind::Async, *ptr, size, stream));
  });
}

TIDEMARK_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* ptr, size_t size, CUstream stream) {
  uses::cuMemAllocAsync_ptsz.entered();
  // This variant's null stream is the thread's own.
  CUstream named = stream == nullptr ? CU_STREAM_PER_THREAD : stream;
  return booked(with_room([&] { return real_cuda().cuMemAllocAsync_ptsz(ptr, size, stream); }),
                [&](CudaKindCalls& calls) {
                  noted(uses::cuMemAllocAsync_ptsz, calls.pooled(DeviceKind::Async, *ptr, size, named));
                });
}

TIDEMARK_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* ptr, size_t size, CUmemoryPool pool, CUstream stream) {
  uses::cuMemAllocFromPoolAsync.entered();
  return booked(with_room([&] { return real_cuda().cuMemAllocFromPoolAsync(ptr, size, pool, stream); }),
                [&](CudaKindCalls& calls) {
                  noted(uses::cuMemAllocFromPoolAsync, calls.pooled(DeviceKind::Pool, *ptr, size, stream));
                });
}

TIDEMARK_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* ptr, size_t size, CUmemoryPool pool,
                                                      CUstream stream) {
  uses::cuMemAllocFromPoolAsync_ptsz.entered();
  CUstream named = stream == nullptr ? CU_STREAM_PER_THREAD : stream;
  return booked(with_room([&] { return real_cuda().cuMemAllocFromPoolAsync_ptsz(ptr, size, pool, stream); }),
                [&](CudaKindCalls& calls) {
                  noted(uses::cuMemAllocFromPoolAsync_ptsz, calls.pooled(DeviceKind::Pool, *ptr, size, named));
                });
}

TIDEMARK_EXPORT CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* shape) {
  uses::cuArrayCreate_v2.entered();
  return booked(with_room([&] { return real_cuda().cuArrayCreate_v2(array, shape); }),
                [&](CudaKindCalls& calls) { calls.array(*array, *shape); });
}

TIDEMARK_EXPORT CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  uses::cuArray3DCreate_v2.entered();
  return booked(with_room([&] { return real_cuda().cuArray3DCreate_v2(array, shape); }),
                [&](CudaKindCalls& calls) { calls.array(*array, *shape); });
}

TIDEMARK_EXPORT CUresult cuArrayDestroy(CUarray array) {
  uses::cuArrayDestroy.entered();
  return uncounted(KindSpace::Array, array, [&] { return real_cuda().cuArrayDestroy(array); });
}

TIDEMARK_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* shape,
                                                unsigned levels) {
  uses::cuMipmappedArrayCreate.entered();
  return booked(with_room([&] { return real_cuda().cuMipmappedArrayCreate(array, shape, levels); }),
                [&](CudaKindCalls& calls) { calls.mipmapped(*array, *shape, levels); });
}

TIDEMARK_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  uses::cuMipmappedArrayDestroy.entered();
  return uncounted(KindSpace::Array, array, [&] { return real_cuda().cuMipmappedArrayDestroy(array); });
}

}  // extern "C"
