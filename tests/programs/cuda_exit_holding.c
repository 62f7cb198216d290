/* Ends with memory in use and work under way. cuda_exit_holding [return|exit|quick_exit|_exit|abort|kill] (exit) */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

static void last_words(void) { say("in atexit: malloc", cudaMalloc(&(void*){NULL}, 4096)); }

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "exit";
  void* block = NULL;
  atexit(last_words);
  for (int i = 0; i < 5; ++i) say("malloc", cudaMalloc(&block, (size_t)1 << (10 + 3 * i)));
  say("memset", cudaMemsetAsync(block, 1, 1 << 20, NULL));
  fflush(stdout);
  if (strcmp(way, "return") == 0) return 7;
  if (strcmp(way, "quick_exit") == 0) quick_exit(7);
  if (strcmp(way, "_exit") == 0) _exit(7);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "kill") == 0) raise(SIGKILL);
  exit(7);
}
