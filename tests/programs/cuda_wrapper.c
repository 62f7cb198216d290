/* A library that counts a program's cudaMalloc and cudaFree and passes them on to the next in line, as profilers do. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>

int wrapper_mallocs;
int wrapper_frees;

cudaError_t cudaMalloc(void** block, size_t size) {
  cudaError_t (*next)(void**, size_t) = (cudaError_t(*)(void**, size_t))dlsym(RTLD_NEXT, "cudaMalloc");
  ++wrapper_mallocs;
  return next != NULL ? next(block, size) : cudaErrorUnknown;
}

cudaError_t cudaFree(void* block) {
  cudaError_t (*next)(void*) = (cudaError_t(*)(void*))dlsym(RTLD_NEXT, "cudaFree");
  ++wrapper_frees;
  return next != NULL ? next(block) : cudaErrorUnknown;
}
