/* The same as cuda_say.h for programs on the CUDA driver. */
#ifndef CUDA_DRIVER_SAY_H
#define CUDA_DRIVER_SAY_H

#include <cuda.h>
#include <stdio.h>

static inline CUresult say(const char* what, CUresult result) {
  const char* name = NULL;
  cuGetErrorName(result, &name);
  printf("%s: %s\n", what, name != NULL ? name : "?");
  return result;
}

static inline CUresult say_of(const char* what, size_t size, CUresult result) {
  const char* name = NULL;
  cuGetErrorName(result, &name);
  printf("%s %zu: %s\n", what, size, name != NULL ? name : "?");
  return result;
}

#endif
