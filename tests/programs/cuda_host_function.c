/* Driver calls in a stream's host function: refused, and what they named is as it was. */
#include <string.h>

#include "tests/programs/cuda_say.h"

struct Seen {
  void* small;
  void* large;
  cudaError_t small_free;
  cudaError_t large_free;
};

static void free_both(void* data) {
  struct Seen* seen = data;
  seen->small_free = cudaFree(seen->small);
  seen->large_free = cudaFree(seen->large);
}

int main(void) {
  struct Seen seen = {.small_free = cudaSuccess};
  void* other = NULL;
  unsigned char bytes[64];
  cudaStream_t stream = NULL;
  cudaMalloc(&seen.small, 4096);
  cudaMalloc(&seen.large, 30 << 20);
  cudaMemset(seen.small, 7, 4096);
  cudaStreamCreate(&stream);

  say("launch", cudaLaunchHostFunc(stream, free_both, &seen));
  say("synchronize", cudaStreamSynchronize(stream));
  say("free of the small block in it", seen.small_free);
  say("free of the large block in it", seen.large_free);
  cudaMalloc(&other, 4096);
  cudaMemset(other, 9, 4096);
  printf("%s\n", other == seen.small ? "somebody else has it" : "still ours");
  memset(bytes, 0, sizeof bytes);
  say("read", cudaMemcpy(bytes, seen.small, sizeof bytes, cudaMemcpyDeviceToHost));
  printf("it holds %d\n", bytes[0]);
  say("free", cudaFree(seen.small));
  say("free", cudaFree(seen.large));
  say("free again", cudaFree(seen.small));

  cudaFree(other);
  cudaStreamDestroy(stream);
  return 0;
}
