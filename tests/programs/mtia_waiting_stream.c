/* A stream that waits for this very thread, while the thread allocates: natively an allocation doesn't wait for work.
 */
#include <pthread.h>
#include <unistd.h>

#include "tests/programs/mtia_say.h"

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
  mtiaStream_t stream = NULL;
  alarm(60); /* rather than for ever */
  mtiaMalloc(&first, 200 * MIB);
  mtiaMalloc(&second, 200 * MIB);
  mtiaFree(first);
  mtiaFree(second);
  mtiaStreamCreate(&stream);

  pthread_mutex_lock(&gate);
  say("wait in the stream", mtiaLaunchHostFunc(stream, pass, NULL));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    say_of("allocate", sizes[i], mtiaMalloc(&blocks[i], sizes[i]));
  say("query", mtiaStreamQuery(stream));
  pthread_mutex_unlock(&gate);
  say("synchronize", mtiaStreamSynchronize(stream));

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) say("free", mtiaFree(blocks[i]));
  mtiaStreamDestroy(stream);
  return 0;
}
