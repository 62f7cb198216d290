/* Exits with memory in use and work under way, from the middle of a function. */
#include <stdlib.h>

#include "tests/programs/mtia_say.h"

static void last_words(void) { say("in atexit: malloc", mtiaMalloc(&(void*){NULL}, 4096)); }

int main(void) {
  void* block = NULL;
  atexit(last_words);
  for (int i = 0; i < 5; ++i) say("malloc", mtiaMalloc(&block, (size_t)1 << (10 + 3 * i)));
  say("memset", mtiaMemsetAsync(block, 1, 1 << 20, NULL));
  exit(7);
}
