/* Frees a block while a late write into it is still to come, takes a new block at once, and stores something there. The
 * clock stands still but for waits, so the late write is as late as it can be. mtiaFree waits for it: what is stored in
 * the new block stays. A driver that handed the block out too early would spoil it, in every run. */
#include <stdlib.h>
#include <string.h>

#include "tests/programs/mtia_say.h"

enum { kSize = 3000 };

static int survives(size_t size) {
  mtiaStream_t slow = NULL;
  mtiaStream_t fast = NULL;
  void* first = NULL;
  void* second = NULL;
  unsigned char stored[kSize];
  unsigned char found[kSize];
  memset(stored, 0x11, sizeof(stored));
  mtiaStreamCreate(&slow);
  mtiaStreamCreate(&fast);
  mtiaMalloc(&first, size);
  mtiaMemsetAsync(first, 0xEE, size, slow);
  say("free under way", mtiaFree(first));
  mtiaMalloc(&second, size);
  mtiaMemcpyAsync(second, stored, sizeof(stored), mtiaMemcpyHostToDevice, fast);
  mtiaStreamSynchronize(fast);
  mtiaDeviceSynchronize();
  mtiaMemcpy(found, second, sizeof(found), mtiaMemcpyDeviceToHost);
  say("free", mtiaFree(second));
  mtiaStreamDestroy(slow);
  mtiaStreamDestroy(fast);
  return memcmp(stored, found, sizeof(stored)) == 0;
}

int main(void) {
  setenv("MTIA_SIM_CLOCK", "manual", 1);
  const size_t sizes[] = {kSize, 1 << 20, 5 << 20};
  int spoilt = 0;
  for (int i = 0; i < 3; ++i) {
    const int good = survives(sizes[i]);
    printf("%zu bytes: %s\n", sizes[i], good ? "as stored" : "overwritten by work of an earlier owner");
    spoilt += !good;
  }
  return spoilt != 0;
}
