/* Resets a device that holds memory: the memory and the streams are gone, the device works on, the other one has
 * noticed nothing. */
#include "tests/programs/mtia_say.h"

int main(void) {
  void* gone = NULL;
  void* stays = NULL;
  mtiaStream_t stream = NULL;
  say("set device", mtiaSetDevice(1));
  say("malloc", mtiaMalloc(&stays, 4 << 20));
  say("set device", mtiaSetDevice(0));
  say("malloc", mtiaMalloc(&gone, 3 << 20));
  say("stream create", mtiaStreamCreate(&stream));
  say("memset", mtiaMemsetAsync(gone, 1, 3 << 20, stream));
  say("reset", mtiaDeviceReset());
  say("free of what is gone", mtiaFree(gone));
  say("copy to what is gone", mtiaMemset(gone, 1, 16));
  say("stream that is gone", mtiaStreamSynchronize(stream));
  say("malloc", mtiaMalloc(&gone, 3 << 20));
  say("memset", mtiaMemset(gone, 2, 3 << 20));
  say("free", mtiaFree(gone));
  say("memset on the other", mtiaMemset(stays, 3, 4 << 20));
  say("free on the other", mtiaFree(stays));
  return 0;
}
