/* Frees what must not be freed: twice, in the middle, what the driver never gave. Each has the driver's own answer, and
 * the memory that is in use stays whole. */
#include <stdlib.h>
#include <string.h>

#include "tests/programs/mtia_say.h"

static int is_whole(void* block, size_t size) {
  unsigned char* copy = malloc(size);
  int whole = mtiaMemcpy(copy, block, size, mtiaMemcpyDeviceToHost) == MTIA_SUCCESS;
  for (size_t i = 0; whole && i < size; ++i) whole = copy[i] == 0x5A;
  free(copy);
  return whole;
}

static void try_size(size_t size) {
  void* neighbour = NULL;
  void* block = NULL;
  say_of("malloc", size, mtiaMalloc(&neighbour, size));
  say_of("malloc", size, mtiaMalloc(&block, size));
  say("memset", mtiaMemset(neighbour, 0x5A, size));
  say("interior free", mtiaFree((char*)block + 256));
  say("free", mtiaFree(block));
  say("second free", mtiaFree(block));
  say("interior free of a freed block", mtiaFree((char*)block + 256));
  printf("the neighbour is %s\n", is_whole(neighbour, size) ? "whole" : "spoilt");
  say("free", mtiaFree(neighbour));
}

int main(void) {
  static int ours;
  void* host = malloc(4096);
  try_size(4096);
  try_size(3 << 20);
  say("free of a variable", mtiaFree(&ours));
  say("free of host memory", mtiaFree(host));
  say("free of nonsense", mtiaFree((void*)(size_t)0x1234));
  free(host);
  return 0;
}
