// The CUDA driver's physical memory: counted from its creation until no handle and no mapping is left.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/counted.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"

using tidemark::backend::real_cuda;
using tidemark::entry::booked;
using tidemark::entry::uncounted;
using tidemark::entry::with_room;
using tidemark::runtime::CudaKindCalls;
using tidemark::runtime::KindSpace;

namespace uses = tidemark::entry::uses;

extern "C" {

TIDEMARK_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* what,
                                     unsigned long long flags) {
  uses::cuMemCreate.entered();
  return booked(with_room([&] { return real_cuda().cuMemCreate(handle, size, what, flags); }),
                [&](CudaKindCalls& calls) { calls.created(*handle, size, what->location); });
}

TIDEMARK_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  uses::cuMemRelease.entered();
  return uncounted(KindSpace::Handle, handle, [&] { return real_cuda().cuMemRelease(handle); });
}

TIDEMARK_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  uses::cuMemRetainAllocationHandle.entered();
  return booked(real_cuda().cuMemRetainAllocationHandle(handle, address),
                [&](CudaKindCalls& calls) { calls.retained(*handle, address); });
}

TIDEMARK_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                                  unsigned long long flags) {
  uses::cuMemMap.entered();
  return booked(real_cuda().cuMemMap(ptr, size, offset, handle, flags),
                [&](CudaKindCalls& calls) { calls.mapped(ptr, size, offset, handle); });
}

TIDEMARK_EXPORT CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  uses::cuMemUnmap.entered();
  return booked(real_cuda().cuMemUnmap(ptr, size), [&](CudaKindCalls& calls) { calls.unmapped(ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* os_handle,
                                                        CUmemAllocationHandleType type) {
  uses::cuMemImportFromShareableHandle.entered();
  return booked(real_cuda().cuMemImportFromShareableHandle(handle, os_handle, type),
                [&](CudaKindCalls& calls) { calls.handle_imported(*handle); });
}

}  // extern "C"
