/* Driver calls in a stream's host function: refused, and what they named is as it was. */
#include <string.h>

#include "tests/programs/mtia_say.h"

struct Seen {
  void* small;
  void* large;
  mtiaResult_t small_free;
  mtiaResult_t large_free;
};

static void free_both(void* data) {
  struct Seen* seen = data;
  seen->small_free = mtiaFree(seen->small);
  seen->large_free = mtiaFree(seen->large);
}

int main(void) {
  struct Seen seen = {.small_free = MTIA_SUCCESS};
  void* other = NULL;
  unsigned char bytes[64];
  mtiaStream_t stream = NULL;
  mtiaMalloc(&seen.small, 4096);
  mtiaMalloc(&seen.large, 30 << 20);
  mtiaMemset(seen.small, 7, 4096);
  mtiaStreamCreate(&stream);

  say("launch", mtiaLaunchHostFunc(stream, free_both, &seen));
  say("synchronize", mtiaStreamSynchronize(stream));
  say("free of the small block in it", seen.small_free);
  say("free of the large block in it", seen.large_free);
  mtiaMalloc(&other, 4096);
  mtiaMemset(other, 9, 4096);
  printf("%s\n", other == seen.small ? "somebody else has it" : "still ours");
  memset(bytes, 0, sizeof bytes);
  say("read", mtiaMemcpy(bytes, seen.small, sizeof bytes, mtiaMemcpyDeviceToHost));
  printf("it holds %d\n", bytes[0]);
  say("free", mtiaFree(seen.small));
  say("free", mtiaFree(seen.large));
  say("free again", mtiaFree(seen.small));

  mtiaFree(other);
  mtiaStreamDestroy(stream);
  return 0;
}
