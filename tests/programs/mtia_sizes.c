/* Allocates and frees known sizes, in an order that leaves holes, and prints what it holds at most and at the end. */
#include "tests/programs/mtia_say.h"

static const size_t kSizes[] = {1, 512, 513, 1000, 4096, 65536, 524288, 1048576, 1048577, 3145728, 10485760, 20971521};
enum { kCount = sizeof(kSizes) / sizeof(kSizes[0]) };

int main(void) {
  void* blocks[kCount] = {0};
  size_t held = 0;
  for (int i = 0; i < kCount; ++i) {
    if (say_of("malloc", kSizes[i], mtiaMalloc(&blocks[i], kSizes[i])) != MTIA_SUCCESS) return 1;
    if ((size_t)blocks[i] % 512 != 0) puts("not aligned to 512 bytes");
    held += kSizes[i];
  }
  printf("holds %zu bytes in %d blocks\n", held, kCount);
  for (int i = 0; i < kCount; i += 2) say_of("free", kSizes[i], mtiaFree(blocks[i]));
  for (int i = 0; i < kCount; i += 2) say_of("malloc again", kSizes[i], mtiaMalloc(&blocks[i], kSizes[i]));
  for (int i = kCount - 1; i >= 0; --i) say_of("free", kSizes[i], mtiaFree(blocks[i]));
  void* nothing = blocks;
  say("malloc of nothing", mtiaMalloc(&nothing, 0));
  printf("nothing is %s\n", nothing == NULL ? "NULL" : "something");
  say("free of NULL", mtiaFree(NULL));
  return 0;
}
