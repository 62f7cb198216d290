/* Allocates and frees known sizes through the runtime, holes and all, and prints what it holds. Built three times:
 * linked to the shared runtime, with a static one of its own, and on the bare runtime. */
#include <string.h>

#include "tests/programs/cuda_say.h"

static const size_t kSizes[] = {1, 512, 513, 1000, 65536, 1048575, 1048576, 1048577, 2097152, 3145728, 20971521};
enum { kCount = sizeof(kSizes) / sizeof(kSizes[0]) };

static void check_contents(void* block, size_t size, int value) {
  unsigned char back[2] = {0, 0};
  say_of("memset", size, cudaMemset(block, value, size));
  cudaMemcpy(back, block, 1, cudaMemcpyDeviceToHost);
  cudaMemcpy(back + 1, (char*)block + size - 1, 1, cudaMemcpyDeviceToHost);
  printf("it begins with %d and ends with %d\n", back[0], back[1]);
}

int main(void) {
  void* blocks[kCount] = {0};
  size_t held = 0;
  size_t total = 0;
  for (int i = 0; i < kCount; ++i) {
    if (say_of("malloc", kSizes[i], cudaMalloc(&blocks[i], kSizes[i])) != cudaSuccess) return 1;
    if ((size_t)blocks[i] % 256 != 0) puts("not aligned to 256 bytes");
    held += kSizes[i];
    check_contents(blocks[i], kSizes[i], i + 1);
  }
  printf("holds %zu bytes in %d blocks\n", held, kCount);
  say("memory of the device", cudaMemGetInfo(NULL, &total));
  printf("%zu bytes in all\n", total);
  for (int i = 0; i < kCount; i += 2) say_of("free", kSizes[i], cudaFree(blocks[i]));
  for (int i = 0; i < kCount; i += 2) say_of("malloc again", kSizes[i], cudaMalloc(&blocks[i], kSizes[i]));
  for (int i = 0; i < kCount; i += 2) check_contents(blocks[i], kSizes[i], i + 101);
  for (int i = kCount - 1; i >= 0; --i) say_of("free", kSizes[i], cudaFree(blocks[i]));
  void* nothing = blocks;
  say("malloc of nothing", cudaMalloc(&nothing, 0));
  printf("nothing is %s\n", nothing == NULL ? "NULL" : "something");
  say("free of NULL", cudaFree(NULL));
  return 0;
}
