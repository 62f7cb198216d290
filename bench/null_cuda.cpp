// A CUDA driver that does next to nothing, at the same cost every time: what remains in a measurement over it is the
// allocator's. Just the functions that the shim, the null runtime and the benchmarks need; all work is done at once.
//
// Like the simulator it is linked with -Bsymbolic: its own look-ups must not end in the shim's exports.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "bench/null_counts.hpp"
#include "bench/null_memory.hpp"

#define TIDEMARK_NULL extern "C" __attribute__((visibility("default")))

namespace {

using tidemark::bench::NullCounts;
using tidemark::bench::NullMemory;

constinit NullMemory memory;
thread_local CUcontext current __attribute__((tls_model("initial-exec"))) = nullptr;
int the_context = 0;
int the_event = 0;

CUcontext primary() { return reinterpret_cast<CUcontext>(&the_context); }

}  // namespace

TIDEMARK_NULL CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

TIDEMARK_NULL CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

TIDEMARK_NULL CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "null device (simulated)", static_cast<std::size_t>(size) - 1);
  name[size - 1] = '\0';
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
  std::memset(uuid, 0x11, sizeof *uuid);
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }

TIDEMARK_NULL CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice) {
  std::strncpy(id, "0000:00:00.0", static_cast<std::size_t>(size) - 1);
  id[size - 1] = '\0';
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = NullMemory::kCapacity;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = primary();
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }

TIDEMARK_NULL CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuCtxPushCurrent_v2(CUcontext context) { return cuCtxSetCurrent(context); }
TIDEMARK_NULL CUresult cuCtxPopCurrent_v2(CUcontext* context) { return cuCtxGetCurrent(context); }

TIDEMARK_NULL CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuCtxGetId(CUcontext, unsigned long long* id) {
  *id = 1;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }

TIDEMARK_NULL CUresult cuCtxRecordEvent(CUcontext, CUevent) { return CUDA_SUCCESS; }

TIDEMARK_NULL CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(&the_event);
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
TIDEMARK_NULL CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }

TIDEMARK_NULL CUresult cuMemAlloc_v2(CUdeviceptr* block, size_t size) {
  *block = memory.allocate(size);
  return *block == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuMemFree_v2(CUdeviceptr block) {
  return memory.release(block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

TIDEMARK_NULL CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  *free_bytes = NullMemory::kCapacity - memory.counts().used_bytes;
  *total = NullMemory::kCapacity;
  return CUDA_SUCCESS;
}

TIDEMARK_NULL NullCounts tidemark_null_counts() { return memory.counts(); }
