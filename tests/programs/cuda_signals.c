/* Has handlers for signals, which come in the middle of everything, and without being restarted: nothing fails of it,
 * and the handlers and the mask stay what they were. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

#include "tests/programs/cuda_say.h"

enum { kThreads = 4, kRounds = 3000 };

static atomic_int arrived;
static atomic_int failures;

static void arrive(int number) {
  (void)number;
  atomic_fetch_add(&arrived, 1);
}

static void* churn(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds || atomic_load(&arrived) < 10; ++i) {
    void* block = NULL;
    if (cudaMalloc(&block, i % 3 == 0 ? 3 << 20 : 1000) != cudaSuccess || cudaFree(block) != cudaSuccess) {
      atomic_fetch_add(&failures, 1);
    }
  }
  return NULL;
}

int main(void) {
  static const int kNumbers[] = {SIGUSR1, SIGUSR2, SIGALRM};
  struct sigaction mine;
  struct sigaction now;
  sigset_t blocked;
  sigset_t blocked_now;
  pthread_t threads[kThreads];
  const struct itimerval often = {{0, 200}, {0, 200}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = &arrive;
  sigemptyset(&mine.sa_mask);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  for (int i = 0; i < 3; ++i) sigaction(kNumbers[i], &mine, NULL);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, &churn, NULL) != 0) return 1;
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("failures: %d\n", atomic_load(&failures));
  for (int i = 0; i < 3; ++i) {
    sigaction(kNumbers[i], NULL, &now);
    printf("signal %d is mine: %s\n", kNumbers[i], now.sa_handler == &arrive ? "yes" : "no");
  }
  pthread_sigmask(SIG_BLOCK, NULL, &blocked_now);
  printf("blocked: SIGTERM %d, SIGUSR1 %d, SIGALRM %d\n", sigismember(&blocked_now, SIGTERM),
         sigismember(&blocked_now, SIGUSR1), sigismember(&blocked_now, SIGALRM));
  return 0;
}
