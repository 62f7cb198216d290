/* cuda_two_runtimes [LIBRARY]: carries a static runtime of its own and opens a shared one as well. Both end in the
 * same driver, and each frees what the other allocated; with a LIBRARY, which may have a driver of its own, each frees
 * its own. */
#include <dlfcn.h>

#include "tests/programs/cuda_say.h"

#ifndef CUDART_NAME
#define CUDART_NAME "libcudart.so.13"
#endif

int main(int argc, char** argv) {
  void* shared = dlopen(argc > 1 ? argv[1] : CUDART_NAME, RTLD_NOW | RTLD_LOCAL);
  if (shared == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  cudaError_t (*allocate)(void**, size_t) = (cudaError_t(*)(void**, size_t))dlsym(shared, "cudaMalloc");
  cudaError_t (*release)(void*) = (cudaError_t(*)(void*))dlsym(shared, "cudaFree");
  cudaError_t (*last_error)(void) = (cudaError_t(*)(void))dlsym(shared, "cudaGetLastError");
  if (allocate == NULL || release == NULL || last_error == NULL) return 1;
  printf("two runtimes: %s\n", (void*)allocate != (void*)&cudaMalloc ? "yes" : "no");

  void* mine = NULL;
  void* theirs = NULL;
  say("malloc in the static one", cudaMalloc(&mine, 1000));
  say("malloc in the shared one", allocate(&theirs, 3 << 20));
  say("free", argc > 1 ? cudaFree(mine) : release(mine));
  say("free", argc > 1 ? release(theirs) : cudaFree(theirs));
  say("free again in the shared one", release(theirs));
  say("last error of the static one", cudaGetLastError());
  say("last error of the shared one", last_error());
  return 0;
}
