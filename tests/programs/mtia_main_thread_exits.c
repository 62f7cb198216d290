/* Ends its main thread with pthread_exit and leaves the rest to another, whose end is the end of the process. */
#include <pthread.h>

#include "tests/programs/mtia_say.h"

static void* free_later(void* block) {
  say("free in the last thread", mtiaFree(block));
  return NULL;
}

int main(void) {
  void* block = NULL;
  pthread_t thread;
  say("malloc", mtiaMalloc(&block, 1000));
  pthread_create(&thread, NULL, free_later, block);
  pthread_detach(thread);
  pthread_exit(NULL);
}
