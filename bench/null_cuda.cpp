// A CUDA driver that does next to nothing, at the same cost every time: what remains in a measurement over it is ours.
// Just the functions that the shim and the benchmark need; addresses count up and are never used.
//
// Like the simulator it is linked with -Bsymbolic: its own look-ups must not end in the shim's exports.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#define TIDEMARK_NULL extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kTotal = std::size_t{1} << 40;
constexpr CUdeviceptr kFirst = CUdeviceptr{1} << 40;

std::atomic<CUdeviceptr> next_address{kFirst};
thread_local CUcontext current = nullptr;
int the_context = 0;

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
  *bytes = kTotal;
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

TIDEMARK_NULL CUresult cuMemAlloc_v2(CUdeviceptr* block, size_t size) {
  // Starts on 2 MiB boundaries, as a driver's large blocks do.
  constexpr std::size_t kStep = std::size_t{2} << 20;
  *block = next_address.fetch_add((size + kStep - 1) / kStep * kStep, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

TIDEMARK_NULL CUresult cuMemFree_v2(CUdeviceptr) { return CUDA_SUCCESS; }

TIDEMARK_NULL CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  *free_bytes = kTotal;
  *total = kTotal;
  return CUDA_SUCCESS;
}
