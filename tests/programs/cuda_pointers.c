/* Asks what pointers are. */
#include <cuda.h>
#include <stdlib.h>

#include "tests/programs/cuda_say.h"

static void describe(const char* what, const void* pointer) {
  static const char* const kTypes[] = {"unregistered", "host", "device", "managed"};
  struct cudaPointerAttributes attributes;
  say(what, cudaPointerGetAttributes(&attributes, pointer));
  printf("type %s, device %d, device pointer %s, host pointer %s\n", kTypes[attributes.type], attributes.device,
         attributes.devicePointer == pointer ? "itself" : "NULL",
         attributes.hostPointer == pointer ? "itself" : "NULL");
}

static void range_of(void* block, size_t offset, size_t size) {
  CUdeviceptr base = 0;
  size_t extent = 0;
  say("range", (cudaError_t)cuMemGetAddressRange(&base, &extent, (CUdeviceptr)block + offset));
  const size_t before = (size_t)block - (size_t)base;
  printf("the block lies in it: %s\n", before + size <= extent ? "yes" : "no");
}

int main(void) {
  void* small = NULL;
  void* large = NULL;
  void* pinned = NULL;
  void* registered = aligned_alloc(4096, 8192);
  void* device = NULL;
  cudaMalloc(&small, 1000);
  cudaSetDevice(1);
  cudaMalloc(&large, 3 << 20);
  say("pinned", cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
  say("register", cudaHostRegister(registered, 8192, cudaHostRegisterDefault));
  say("register again", cudaHostRegister((char*)registered + 4096, 4096, cudaHostRegisterDefault));
  describe("small", small);
  describe("inside large", (char*)large + 12345);
  describe("pinned", pinned);
  describe("registered", (char*)registered + 100);
  describe("host", &device);
  range_of(small, 999, 1000);
  range_of(large, 0, 3 << 20);
  say("device pointer of pinned memory", cudaHostGetDevicePointer(&device, pinned, 0));
  printf("it is itself: %s\n", device == pinned ? "yes" : "no");
  say("copy from pinned to device as devices do", cudaMemcpy(large, device, 4096, cudaMemcpyDeviceToDevice));
  say("unregister", cudaHostUnregister(registered));
  say("unregister again", cudaHostUnregister(registered));
  say("free", cudaFreeHost(pinned));
  say("free", cudaFree(small));
  say("free", cudaFree(large));
  free(registered);
  return 0;
}
