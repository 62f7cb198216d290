/* Fills a device of 16 MiB to the last byte, twice, in sizes that fit exactly; then one more byte is too much. */
#include <stdlib.h>

#include "tests/programs/mtia_say.h"

enum { kMost = 64 };

static int take(void** blocks, int count, size_t size) {
  int taken = 0;
  while (taken < count && mtiaMalloc(&blocks[taken], size) == MTIA_SUCCESS) ++taken;
  printf("%d of %d blocks of %zu bytes\n", taken, count, size);
  return taken;
}

int main(void) {
  void* blocks[kMost] = {0};
  void* more = NULL;
  setenv("MTIA_SIM_DRAM", "16MiB", 1);
  for (int round = 0; round < 2; ++round) {
    int count = take(blocks, 32, 512 << 10);
    say("one byte more", mtiaMalloc(&more, 1));
    while (count > 0) mtiaFree(blocks[--count]);
  }
  int count = take(blocks, 1, 9 << 20);
  count += take(blocks + count, 14, 512 << 10);
  say("one byte more", mtiaMalloc(&more, 1));
  say("free", mtiaFree(blocks[--count]));
  say("as much again", mtiaMalloc(&blocks[count++], 512 << 10));
  while (count > 0) mtiaFree(blocks[--count]);
  say("all in one", mtiaMalloc(&more, 16 << 20));
  say("free", mtiaFree(more));
  return 0;
}
