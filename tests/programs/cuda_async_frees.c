/* Stream-ordered memory, and the two ways to mix it with the other kind. */
#include "tests/programs/cuda_say.h"

int main(void) {
  cudaStream_t stream = NULL;
  void* ordered = NULL;
  void* plain = NULL;
  unsigned char back = 0;
  say("stream create", cudaStreamCreate(&stream));
  for (int round = 0; round < 3; ++round) {
    const size_t size = round == 0 ? 1000 : round == 1 ? 70000 : 3 << 20;
    say_of("malloc async", size, cudaMallocAsync(&ordered, size, stream));
    say("memset async", cudaMemsetAsync(ordered, round + 1, size, stream));
    say("copy back", cudaMemcpyAsync(&back, ordered, 1, cudaMemcpyDeviceToHost, stream));
    say("synchronize", cudaStreamSynchronize(stream));
    printf("it holds %d\n", back);
    say("free async", cudaFreeAsync(ordered, stream));
    say("free async again", cudaFreeAsync(ordered, stream));

    say_of("malloc async", size, cudaMallocAsync(&ordered, size, stream));
    say("synchronize", cudaStreamSynchronize(stream));
    say("free", cudaFree(ordered));

    say_of("malloc", size, cudaMalloc(&plain, size));
    say("memset async", cudaMemsetAsync(plain, round + 1, size, stream));
    say("free async", cudaFreeAsync(plain, stream));
    say("synchronize", cudaStreamSynchronize(stream));
    say("free of what has been freed", cudaFree(plain));
  }
  say("malloc async of nothing", cudaMallocAsync(&ordered, 0, stream));
  say("free async of a variable", cudaFreeAsync(&back, stream));
  say("stream destroy", cudaStreamDestroy(stream));
  return 0;
}
