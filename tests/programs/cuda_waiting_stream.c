/* A stream that waits for this very thread, while the thread allocates: natively an allocation doesn't wait for work.
 */
#include <pthread.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

#define MIB ((size_t)1 << 20)

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void pass(void* unused) {
  (void)unused;
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
}

int main(void) {
  static const size_t sizes[] = {300 * MIB, 1, 1 * MIB, 3 * MIB, 500 * MIB};
  void* blocks[sizeof sizes / sizeof *sizes] = {NULL};
  void* first = NULL;
  void* second = NULL;
  cudaStream_t stream = NULL;
  alarm(60); /* rather than for ever */
  cudaMalloc(&first, 200 * MIB);
  cudaMalloc(&second, 200 * MIB);
  cudaFree(first);
  cudaFree(second);
  cudaStreamCreate(&stream);

  pthread_mutex_lock(&gate);
  say("wait in the stream", cudaLaunchHostFunc(stream, pass, NULL));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    say_of("allocate", sizes[i], cudaMalloc(&blocks[i], sizes[i]));
  say("query", cudaStreamQuery(stream));
  pthread_mutex_unlock(&gate);
  say("synchronize", cudaStreamSynchronize(stream));

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) say("free", cudaFree(blocks[i]));
  cudaStreamDestroy(stream);
  return 0;
}
