/* Two vendors' devices in one program: each driver refuses to free what is the other's. */
#include <mtia.h>

#include "tests/programs/cuda_say.h"

static void say_mtia(const char* what, mtiaResult_t result) { printf("%s: %s\n", what, mtiaGetErrorName(result)); }

int main(void) {
  void* small[2] = {NULL, NULL};
  void* large[2] = {NULL, NULL};
  say("malloc", cudaMalloc(&small[0], 1000));
  say_mtia("mtia malloc", mtiaMalloc(&small[1], 1000));
  say("malloc", cudaMalloc(&large[0], 3 << 20));
  say_mtia("mtia malloc", mtiaMalloc(&large[1], 3 << 20));
  say("free of mtia's", cudaFree(small[1]));
  say("free of mtia's", cudaFree(large[1]));
  say("free of mtia's in a stream's order", cudaFreeAsync(small[1], NULL));
  say_mtia("mtia free of cuda's", mtiaFree(small[0]));
  say_mtia("mtia free of cuda's", mtiaFree(large[0]));
  say("memset", cudaMemset(small[0], 1, 1000));
  say_mtia("mtia memset", mtiaMemset(small[1], 1, 1000));
  for (int i = 0; i < 2; ++i) {
    say("free", cudaFree(i == 0 ? small[0] : large[0]));
    say_mtia("mtia free", mtiaFree(i == 0 ? small[1] : large[1]));
  }
  return 0;
}
