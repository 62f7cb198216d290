// The guest on the CUDA driver, in the primary context of the device that it chose last. It reaches the driver as its
// build says: linked with it, or (GUEST_BY_HANDLE) as the static runtime does it: one dlopen, one dlsym, and from there
// cuGetProcAddress.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#include "tests/end_to_end/guest/guest_device.hpp"

namespace guest {
namespace {

#ifdef GUEST_BY_HANDLE
template <class Function>
Function* resolve(const char* name, int version) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  static const auto resolver = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(
      driver != nullptr ? dlsym(driver, "cuGetProcAddress_v2") : nullptr);
  void* function = nullptr;
  CUdriverProcAddressQueryResult found{};
  if (resolver == nullptr || resolver(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found) != CUDA_SUCCESS) {
    return nullptr;
  }
  return reinterpret_cast<Function*>(function);
}
#define GUEST_FIND(name, symbol, version) resolve<decltype(::symbol)>(#name, version)
#else
#define GUEST_FIND(name, symbol, version) &::symbol
#endif

// Base name, symbol, and the version at which the runtime asks for it.
#define GUEST_DRIVER_FUNCTIONS(X)                                \
  X(cuInit, cuInit, 2000)                                        \
  X(cuDeviceGet, cuDeviceGet, 2000)                              \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000)    \
  X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000)      \
  X(cuDeviceGetDevResource, cuDeviceGetDevResource, 12040)       \
  X(cuDevResourceGenerateDesc, cuDevResourceGenerateDesc, 12040) \
  X(cuGreenCtxCreate, cuGreenCtxCreate, 12040)                   \
  X(cuGreenCtxDestroy, cuGreenCtxDestroy, 12040)                 \
  X(cuCtxFromGreenCtx, cuCtxFromGreenCtx, 12040)                 \
  X(cuCtxSetCurrent, cuCtxSetCurrent, 4000)                      \
  X(cuCtxGetCurrent, cuCtxGetCurrent, 4000)                      \
  X(cuCtxGetDevice, cuCtxGetDevice, 2000)                        \
  X(cuCtxSynchronize, cuCtxSynchronize, 2000)                    \
  X(cuMemAlloc, cuMemAlloc_v2, 3020)                             \
  X(cuMemFree, cuMemFree_v2, 3020)                               \
  X(cuMemFreeAsync, cuMemFreeAsync, 11020)                       \
  X(cuIpcGetMemHandle, cuIpcGetMemHandle, 4010)                  \
  X(cuPointerGetAttribute, cuPointerGetAttribute, 4000)          \
  X(cuPointerGetAttributes, cuPointerGetAttributes, 7000)        \
  X(cuPointerSetAttribute, cuPointerSetAttribute, 6000)          \
  X(cuMemGetInfo, cuMemGetInfo_v2, 3020)                         \
  X(cuStreamCreate, cuStreamCreate, 2000)                        \
  X(cuStreamSynchronize, cuStreamSynchronize, 2000)              \
  X(cuMemsetD8Async, cuMemsetD8Async, 3020)                      \
  X(cuLaunchHostFunc, cuLaunchHostFunc, 10000)                   \
  X(cuMemcpyHtoD, cuMemcpyHtoD_v2, 3020)                         \
  X(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020)

struct Driver {
#define X(name, symbol, version) decltype(&::symbol) name = GUEST_FIND(name, symbol, version);
  GUEST_DRIVER_FUNCTIONS(X)
#undef X
};

const Driver& driver() {
  static const Driver found;
  return found;
}

int use_device(int ordinal) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult code = driver().cuInit(0);
  if (code == CUDA_SUCCESS) code = driver().cuDeviceGet(&device, ordinal);
  if (code == CUDA_SUCCESS) code = driver().cuDevicePrimaryCtxRetain(&context, device);
  if (code == CUDA_SUCCESS) code = driver().cuCtxSetCurrent(context);
  return code;
}

// As a program that starts with cuInit; a failure shows in the call that follows.
void start_once() {
  CUcontext context = nullptr;
  if (driver().cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) use_device(0);
}

CUgreenCtx green = nullptr;

CUdeviceptr address_of(const void* ptr) { return reinterpret_cast<CUdeviceptr>(ptr); }

}  // namespace

int set_device(int device) { return use_device(device); }

int allocate(void** ptr, std::size_t size) {
  start_once();
  if (ptr == nullptr) return driver().cuMemAlloc(nullptr, size);
  CUdeviceptr address = 0;
  const int code = driver().cuMemAlloc(&address, size);
  if (code == CUDA_SUCCESS) *ptr = reinterpret_cast<void*>(address);
  return code;
}

int release(void* ptr) {
  start_once();
  return driver().cuMemFree(address_of(ptr));
}

int memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  start_once();
  return driver().cuMemGetInfo(free_bytes, total_bytes);
}

int reset_device() {
  CUdevice device = 0;
  const CUresult code = driver().cuCtxGetDevice(&device);
  return code == CUDA_SUCCESS ? driver().cuDevicePrimaryCtxReset(device) : code;
}

int synchronize() { return driver().cuCtxSynchronize(); }

int fill_later(void* ptr, unsigned char value, std::size_t size) {
  CUstream stream = nullptr;
  if (const int code = driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); code != CUDA_SUCCESS) return code;
  return driver().cuMemsetD8Async(address_of(ptr), value, size, stream);
}

int call_later(void (*function)(void*)) {
  CUstream stream = nullptr;
  if (const int code = driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); code != CUDA_SUCCESS) return code;
  return driver().cuLaunchHostFunc(stream, function, nullptr);
}

// A copy from pageable memory may return before it is done; the default stream waits for none of fill_later's.
int write(void* ptr, const void* from, std::size_t size) {
  const CUresult code = driver().cuMemcpyHtoD(address_of(ptr), from, size);
  return code == CUDA_SUCCESS ? driver().cuStreamSynchronize(nullptr) : code;
}
int read(void* to, const void* ptr, std::size_t size) { return driver().cuMemcpyDtoH(to, address_of(ptr), size); }

int ipc_handle(void* ptr) {
  CUipcMemHandle handle;
  return driver().cuIpcGetMemHandle(&handle, address_of(ptr));
}
int release_in_stream(void* ptr) { return driver().cuMemFreeAsync(address_of(ptr), nullptr); }

int leave_to_card(void* ptr, CardsWay way) {
  const int yes = 1;
  unsigned type = 0;
  CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens{};
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_P2P_TOKENS};
  void* values[] = {&type, &tokens};
  switch (way) {
    case CardsWay::SyncMemops:
      return driver().cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address_of(ptr));
    case CardsWay::Token:
      return driver().cuPointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, address_of(ptr));
    case CardsWay::TokenAmongOthers:
      return driver().cuPointerGetAttributes(2, names, values, address_of(ptr));
  }
  return kNoSuchCall;
}

int enter_green_context(int ordinal) {
  CUdevice device = 0;
  CUdevResource all{};
  CUdevResourceDesc description = nullptr;
  CUcontext context = nullptr;
  CUresult code = driver().cuInit(0);
  if (code == CUDA_SUCCESS) code = driver().cuDeviceGet(&device, ordinal);
  if (code == CUDA_SUCCESS) code = driver().cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM);
  if (code == CUDA_SUCCESS) code = driver().cuDevResourceGenerateDesc(&description, &all, 1);
  if (code == CUDA_SUCCESS) code = driver().cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM);
  if (code == CUDA_SUCCESS) code = driver().cuCtxFromGreenCtx(&context, green);
  return code == CUDA_SUCCESS ? driver().cuCtxSetCurrent(context) : code;
}

int end_green_context() {
  const CUresult code = driver().cuCtxSetCurrent(nullptr);
  return code == CUDA_SUCCESS ? driver().cuGreenCtxDestroy(green) : code;
}

}  // namespace guest
