// The guest on the CUDA runtime.
#include <cuda_runtime_api.h>

#include "tests/end_to_end/guest/guest_device.hpp"

namespace guest {

int set_device(int device) { return cudaSetDevice(device); }
int allocate(void** ptr, std::size_t size) { return cudaMalloc(ptr, size); }
int release(void* ptr) { return cudaFree(ptr); }
int memory_info(std::size_t* free_bytes, std::size_t* total_bytes) { return cudaMemGetInfo(free_bytes, total_bytes); }
int reset_device() { return cudaDeviceReset(); }
int synchronize() { return cudaDeviceSynchronize(); }

int fill_later(void* ptr, unsigned char value, std::size_t size) {
  cudaStream_t stream = nullptr;
  if (const int code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); code != cudaSuccess) return code;
  return cudaMemsetAsync(ptr, value, size, stream);
}

int call_later(void (*function)(void*)) {
  cudaStream_t stream = nullptr;
  if (const int code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); code != cudaSuccess) return code;
  return cudaLaunchHostFunc(stream, function, nullptr);
}

// A copy from pageable memory may return before it is done; the default stream waits for none of fill_later's.
int write(void* ptr, const void* from, std::size_t size) {
  const int code = cudaMemcpy(ptr, from, size, cudaMemcpyHostToDevice);
  return code == cudaSuccess ? cudaStreamSynchronize(nullptr) : code;
}
int read(void* to, const void* ptr, std::size_t size) { return cudaMemcpy(to, ptr, size, cudaMemcpyDeviceToHost); }

int ipc_handle(void* ptr) {
  cudaIpcMemHandle_t handle;
  return cudaIpcGetMemHandle(&handle, ptr);
}
int release_in_stream(void* ptr) { return cudaFreeAsync(ptr, nullptr); }
int leave_to_card(void*, CardsWay) { return kNoSuchCall; }
int enter_green_context(int) { return kNoSuchCall; }
int end_green_context() { return kNoSuchCall; }

}  // namespace guest
