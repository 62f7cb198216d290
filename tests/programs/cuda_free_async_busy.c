/* Frees a cudaMalloc'ed block on a stream whose work waits for this very thread: cudaFreeAsync must not wait for it. */
#include <semaphore.h>

#include "tests/programs/cuda_say.h"

static sem_t go;

static void CUDART_CB wait_for_host(void* unused) {
  (void)unused;
  sem_wait(&go);
}

int main(void) {
  cudaStream_t stream = NULL;
  void* first = NULL;
  void* second = NULL;
  sem_init(&go, 0, 0);
  say("stream", cudaStreamCreate(&stream));
  say("malloc", cudaMalloc(&first, 1000));
  say("host function", cudaLaunchHostFunc(stream, wait_for_host, NULL));
  say("free on the stream", cudaFreeAsync(first, stream));
  say("malloc", cudaMalloc(&second, 1000));
  sem_post(&go);
  say("synchronise", cudaDeviceSynchronize());
  say("free", cudaFree(second));
  return 0;
}
