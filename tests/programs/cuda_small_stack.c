/* All of it on a thread with the least stack that a thread may have. */
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

static cudaError_t results[5];

static void* work(void* unused) {
  void* small = NULL;
  void* large = NULL;
  results[0] = cudaMalloc(&small, 1000);
  results[1] = cudaMalloc(&large, 64 << 20);
  results[2] = cudaFree(large);
  results[3] = cudaFree(small);
  results[4] = cudaFree(small);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t little;
  pthread_attr_init(&little);
  pthread_attr_setstacksize(&little, (size_t)sysconf(_SC_THREAD_STACK_MIN));
  printf("thread: %d\n", pthread_create(&thread, &little, work, NULL));
  pthread_join(thread, NULL);
  say("malloc", results[0]);
  say("a large malloc", results[1]);
  say("a large free", results[2]);
  say("free", results[3]);
  say("a wrong free", results[4]);
  return 0;
}
