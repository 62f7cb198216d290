/* Frees a block while a late write into it is still to come, takes a new block at once, and stores something there. The
 * clock stands still but for waits, so the late write is as late as it can be. cudaFree waits for it: what is stored in
 * the new block stays. A driver that handed the block out too early would spoil it, in every run. */
#include <stdlib.h>
#include <string.h>

#include "tests/programs/cuda_say.h"

enum { kStored = 3000 };

static int survives(size_t size, unsigned int flags, int in_stream_order) {
  cudaStream_t slow = NULL;
  cudaStream_t fast = NULL;
  void* first = NULL;
  void* second = NULL;
  unsigned char stored[kStored];
  unsigned char found[kStored];
  memset(stored, 0x11, sizeof(stored));
  cudaStreamCreateWithFlags(&slow, flags);
  cudaStreamCreateWithFlags(&fast, flags);
  cudaMalloc(&first, size);
  cudaMemsetAsync(first, 0xEE, size, slow);
  say("free under way", in_stream_order ? cudaFreeAsync(first, slow) : cudaFree(first));
  cudaMalloc(&second, size);
  cudaMemcpyAsync(second, stored, sizeof(stored), cudaMemcpyHostToDevice, fast);
  cudaStreamSynchronize(fast);
  cudaDeviceSynchronize();
  cudaMemcpy(found, second, sizeof(found), cudaMemcpyDeviceToHost);
  say("free", cudaFree(second));
  cudaStreamDestroy(slow);
  cudaStreamDestroy(fast);
  return memcmp(stored, found, sizeof(stored)) == 0;
}

int main(void) {
  setenv("CUDA_SIM_CLOCK", "manual", 1);
  const size_t sizes[] = {kStored, 1 << 20, 5 << 20};
  int spoilt = 0;
  for (int i = 0; i < 3; ++i) {
    for (int way = 0; way < 4; ++way) {
      const unsigned int flags = way & 1 ? cudaStreamNonBlocking : cudaStreamDefault;
      const int good = survives(sizes[i], flags, way & 2);
      printf("%zu bytes: %s\n", sizes[i], good ? "as stored" : "overwritten by work of an earlier owner");
      spoilt += !good;
    }
  }
  return spoilt != 0;
}
