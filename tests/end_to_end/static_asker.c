/* The first call of NVIDIA's own runtime, linked statically as nvcc does by default. */
#include <cuda_runtime_api.h>

int main(void) {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? 0 : 1;
}
