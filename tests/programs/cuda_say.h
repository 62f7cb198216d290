/* What the small programs on the CUDA runtime have in common: a line per call, with the runtime's word for how it went.
 */
#ifndef CUDA_SAY_H
#define CUDA_SAY_H

#include <cuda_runtime_api.h>
#include <stdio.h>

static inline cudaError_t say(const char* what, cudaError_t result) {
  printf("%s: %s\n", what, cudaGetErrorName(result));
  return result;
}

/* The same with a size. */
static inline cudaError_t say_of(const char* what, size_t size, cudaError_t result) {
  printf("%s %zu: %s\n", what, size, cudaGetErrorName(result));
  return result;
}

#endif
