/* Linked to cuda_wrapper.so before the runtime: its calls go through the wrapper. */
#include "tests/programs/cuda_say.h"

extern int wrapper_mallocs;
extern int wrapper_frees;

int main(void) {
  void* small = NULL;
  void* large = NULL;
  say("malloc", cudaMalloc(&small, 1000));
  say("malloc", cudaMalloc(&large, 3 << 20));
  say("free of the middle", cudaFree((char*)small + 512));
  say("free", cudaFree(small));
  say("free", cudaFree(large));
  printf("the wrapper saw %d mallocs and %d frees\n", wrapper_mallocs, wrapper_frees);
  return 0;
}
