/* Frees what must not be freed: twice, in the middle, what the driver never gave. Each has the driver's own answer, and
 * the memory that is in use stays whole. */
#include <stdlib.h>

#include "tests/programs/cuda_say.h"

static int is_whole(void* block, size_t size) {
  unsigned char* copy = malloc(size);
  int whole = cudaMemcpy(copy, block, size, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (size_t i = 0; whole && i < size; ++i) whole = copy[i] == 0x5A;
  free(copy);
  return whole;
}

static void try_size(size_t size) {
  void* neighbour = NULL;
  void* block = NULL;
  say_of("malloc", size, cudaMalloc(&neighbour, size));
  say_of("malloc", size, cudaMalloc(&block, size));
  say("memset", cudaMemset(neighbour, 0x5A, size));
  say("interior free", cudaFree((char*)block + 256));
  say("last error", cudaGetLastError());
  say("last error again", cudaGetLastError());
  say("free", cudaFree(block));
  say("second free", cudaFree(block));
  say("interior free of a freed block", cudaFree((char*)block + 256));
  printf("the neighbour is %s\n", is_whole(neighbour, size) ? "whole" : "spoilt");
  say("free", cudaFree(neighbour));
}

int main(void) {
  static int ours;
  void* host = malloc(4096);
  void* pinned = NULL;
  void* block = NULL;
  try_size(4096);
  try_size(3 << 20);
  say("free of a variable", cudaFree(&ours));
  say("free of host memory", cudaFree(host));
  say("free of nonsense", cudaFree((void*)(size_t)0x1234));
  say("malloc of pinned memory", cudaMallocHost(&pinned, 4096));
  say("free of pinned memory as device memory", cudaFree(pinned));
  say("malloc", cudaMalloc(&block, 4096));
  say("free of device memory as pinned memory", cudaFreeHost(block));
  say("free", cudaFreeHost(pinned));
  say("free", cudaFree(block));
  free(host);
  return 0;
}
