// Memory of another process or another interface that the CUDA driver lets this one use.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/counted.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"

using tidemark::backend::real_cuda;
using tidemark::entry::booked;
using tidemark::entry::uncounted;
using tidemark::runtime::CudaKindCalls;
using tidemark::runtime::KindSpace;

namespace uses = tidemark::entry::uses;

extern "C" {

TIDEMARK_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned flags) {
  uses::cuIpcOpenMemHandle.entered();
  return booked(real_cuda().cuIpcOpenMemHandle(ptr, handle, flags), [&](CudaKindCalls& calls) { calls.opened(*ptr); });
}

TIDEMARK_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned flags) {
  uses::cuIpcOpenMemHandle_v2.entered();
  return booked(real_cuda().cuIpcOpenMemHandle_v2(ptr, handle, flags),
                [&](CudaKindCalls& calls) { calls.opened(*ptr); });
}

TIDEMARK_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr ptr) {
  uses::cuIpcCloseMemHandle.entered();
  return uncounted(KindSpace::Device, ptr, [&] { return real_cuda().cuIpcCloseMemHandle(ptr); });
}

TIDEMARK_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr* ptr, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  uses::cuMemPoolImportPointer.entered();
  return booked(real_cuda().cuMemPoolImportPointer(ptr, pool, data), [&](CudaKindCalls& calls) { calls.opened(*ptr); });
}

TIDEMARK_EXPORT CUresult cuImportExternalMemory(CUexternalMemory* memory,
                                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* what) {
  uses::cuImportExternalMemory.entered();
  return booked(real_cuda().cuImportExternalMemory(memory, what),
                [&](CudaKindCalls& calls) { calls.external(*memory, what->size); });
}

TIDEMARK_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
  uses::cuDestroyExternalMemory.entered();
  return uncounted(KindSpace::External, memory, [&] { return real_cuda().cuDestroyExternalMemory(memory); });
}

}  // extern "C"
