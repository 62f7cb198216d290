// A CUDA runtime over the null driver: each call is the driver's, or nothing. Like the genuine one it ends in the
// driver's functions as the process has them, so that the shim, where it is preloaded, serves its cudaMalloc; without
// the shim it is what other allocators are measured over.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#define TIDEMARK_NULL extern "C" __attribute__((visibility("default")))

namespace {

thread_local bool has_context __attribute__((tls_model("initial-exec"))) = false;
int the_event = 0;

// As the genuine one does with a thread's first call.
void enter() {
  if (!has_context) [[unlikely]] {
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    has_context = true;
  }
}

cudaError_t code_of(CUresult result) {
  return result == CUDA_SUCCESS               ? cudaSuccess
         : result == CUDA_ERROR_OUT_OF_MEMORY ? cudaErrorMemoryAllocation
                                              : cudaErrorInvalidValue;
}

}  // namespace

TIDEMARK_NULL cudaError_t cudaMalloc(void** block, size_t size) {
  enter();
  CUdeviceptr address = 0;
  const CUresult result = cuMemAlloc_v2(&address, size);
  *block = reinterpret_cast<void*>(address);
  return code_of(result);
}

TIDEMARK_NULL cudaError_t cudaFree(void* block) {
  enter();
  return code_of(cuMemFree_v2(reinterpret_cast<CUdeviceptr>(block)));
}

TIDEMARK_NULL cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  enter();
  return code_of(cuMemGetInfo_v2(free, total));
}

TIDEMARK_NULL cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

TIDEMARK_NULL cudaError_t cudaSetDevice(int) {
  enter();
  return cudaSuccess;
}

TIDEMARK_NULL cudaError_t cudaDeviceSynchronize() {
  enter();
  return code_of(cuCtxSynchronize());
}

TIDEMARK_NULL cudaError_t cudaGetLastError() { return cudaSuccess; }
TIDEMARK_NULL cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

TIDEMARK_NULL cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(&the_event);
  return cudaSuccess;
}

TIDEMARK_NULL cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
TIDEMARK_NULL cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
TIDEMARK_NULL cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
