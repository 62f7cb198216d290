/* cuda_hold [SIZE...]: allocates the sizes in bytes (1000 and 3145728 if none are given), says so, and holds them
 * without another call until its standard input ends. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

int main(int argc, char** argv) {
  const size_t usual[] = {1000, 3145728};
  const int count = argc > 1 ? argc - 1 : 2;
  void** blocks = calloc((size_t)count, sizeof(*blocks));
  for (int i = 0; i < count; ++i) {
    const size_t size = argc > 1 ? strtoull(argv[i + 1], NULL, 10) : usual[i];
    if (say_of("malloc", size, cudaMalloc(&blocks[i], size)) != cudaSuccess) {
      free(blocks);
      return 1;
    }
  }
  puts("holding");
  fflush(stdout);
  char ignored[256];
  while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0) {
  }
  for (int i = 0; i < count; ++i) say("free", cudaFree(blocks[i]));
  free(blocks);
  return 0;
}
