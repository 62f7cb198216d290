/* Cancels a thread whose next calls are a malloc and a free: the cancellation waits for a point that the thread has. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "tests/programs/mtia_say.h"

static sem_t cancelled;

static void* work(void* unused) {
  void* block = NULL;
  int outer = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &outer);
  sem_wait(&cancelled);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &outer);
  mtiaMalloc(&block, 1000);
  mtiaFree(block);
  pthread_testcancel();
  return unused;
}

int main(void) {
  pthread_t thread;
  void* result = NULL;
  void* first = NULL;
  say("malloc", mtiaMalloc(&first, 64));
  sem_init(&cancelled, 0, 0);
  pthread_create(&thread, NULL, work, NULL);
  pthread_cancel(thread);
  sem_post(&cancelled);
  pthread_join(thread, &result);
  printf("cancelled: %s\n", result == PTHREAD_CANCELED ? "yes" : "no");
  say("free", mtiaFree(first));
  return 3;
}
