/* Fills a device of 16 MiB to the last byte, again and again, in sizes that fit exactly; then one more byte is too
 * much. */
#include <stdlib.h>

#include "tests/programs/cuda_say.h"

enum { kMost = 64 };

static int take(void** blocks, int count, size_t size) {
  int taken = 0;
  while (taken < count && cudaMalloc(&blocks[taken], size) == cudaSuccess) ++taken;
  printf("%d of %d blocks of %zu bytes\n", taken, count, size);
  return taken;
}

int main(int argc, char** argv) {
  (void)argv;
  void* blocks[kMost] = {0};
  void* more = NULL;
  setenv("CUDA_SIM_MEMORY", "16MiB", 1);
  for (int round = 0; round < 2; ++round) {
    int count = take(blocks, 32, 512 << 10);
    say("one byte more", cudaMalloc(&more, 1));
    say("last error", cudaGetLastError());
    while (count > 0) cudaFree(blocks[--count]);
  }
  int count = take(blocks, 1, 8 << 20);
  if (count == 0) return 1;
  count += take(blocks + count, 16, 512 << 10);
  say("one byte more", cudaMalloc(&more, 1));
  say("free", cudaFree(blocks[--count]));
  say("as much again", cudaMalloc(&blocks[count++], 512 << 10));
  while (count > 0) cudaFree(blocks[--count]);
  if (argc > 1) {
    say("in stream order", cudaMallocAsync(&more, 16 << 20, NULL));
    say("free in stream order", cudaFreeAsync(more, NULL));
  }
  say("all in one", cudaMalloc(&more, 16 << 20));
  say("free", cudaFree(more));
  return 0;
}
