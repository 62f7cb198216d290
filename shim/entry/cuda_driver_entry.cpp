// The CUDA driver's memory functions, and its resolver: every CUDA program ends here, whatever it linked.
#include "shim/entry/cuda_driver_entry.hpp"

#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/counted.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"
#include "shim/entry/intercept.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/cuda_driver_calls.hpp"

using tidemark::backend::real_cuda;
using tidemark::entry::freed;
using tidemark::entry::intercept;
using tidemark::entry::Starts;
using tidemark::entry::uncounted;
using tidemark::runtime::CudaDriverCalls;
using tidemark::runtime::KindSpace;
using tidemark::runtime::Runtime;

namespace uses = tidemark::entry::uses;

namespace {

// What the driver's resolver found, or ours in its place. Also inside one of our own driver calls: a runtime below us
// that starts only then keeps what it gets.
CUresult resolved(CUresult code, void** function) noexcept {
  if (code == CUDA_SUCCESS && function != nullptr && *function != nullptr) {
    const tidemark::hook::KeptErrno kept_errno;
    const tidemark::hook::CancellationAway cancellation;
    if (tidemark::runtime::build_runtime() != nullptr) {
      *function = tidemark::entry::answer_cuda_resolver(*function);
    }
  }
  return code;
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* ptr, size_t size) {
  uses::cuMemAlloc_v2.entered();
  tidemark::hook::thread_state.driver_allocation_ran = true;
  return intercept<Starts::Yes>([&](Runtime& runtime) { return CudaDriverCalls{runtime}.allocate(ptr, size); },
                                [&] { return real_cuda().cuMemAlloc_v2(ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemFree_v2(CUdeviceptr ptr) {
  uses::cuMemFree_v2.entered();
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.release(ptr); },
                   [&] { return freed(ptr, [&] { return real_cuda().cuMemFree_v2(ptr); }); });
}

TIDEMARK_EXPORT CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream) {
  uses::cuMemFreeAsync.entered();
  return intercept(
      [&](Runtime& runtime) { return CudaDriverCalls{runtime}.release_later(ptr, stream); },
      [&] { return uncounted(KindSpace::Device, ptr, [&] { return real_cuda().cuMemFreeAsync(ptr, stream); }); });
}

TIDEMARK_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream) {
  uses::cuMemFreeAsync_ptsz.entered();
  // This variant's null stream is the thread's own.
  CUstream named = stream == nullptr ? CU_STREAM_PER_THREAD : stream;
  return intercept(
      [&](Runtime& runtime) { return CudaDriverCalls{runtime}.release_later(ptr, named); },
      [&] { return uncounted(KindSpace::Device, ptr, [&] { return real_cuda().cuMemFreeAsync_ptsz(ptr, stream); }); });
}

TIDEMARK_EXPORT CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  uses::cuMemGetInfo_v2.entered();
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.memory_info(free, total); },
                   [&] { return real_cuda().cuMemGetInfo_v2(free, total); });
}

TIDEMARK_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr ptr) {
  uses::cuIpcGetMemHandle.entered();
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.export_memory(handle, ptr); },
                   [&] { return real_cuda().cuIpcGetMemHandle(handle, ptr); });
}

TIDEMARK_EXPORT CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  uses::cuGetProcAddress.entered();
  return resolved(real_cuda().cuGetProcAddress(symbol, function, version, flags), function);
}

TIDEMARK_EXPORT CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                             CUdriverProcAddressQueryResult* status) {
  uses::cuGetProcAddress_v2.entered();
  return resolved(real_cuda().cuGetProcAddress_v2(symbol, function, version, flags, status), function);
}

}  // extern "C"
