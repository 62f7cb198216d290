/* Two streams, the default stream between them, an event and a host function: order is kept where it is promised. */
#include "tests/programs/mtia_say.h"

static void note(void* seen) { *(int*)seen = 1; }

int main(void) {
  mtiaStream_t one = NULL;
  mtiaStream_t two = NULL;
  mtiaEvent_t event = NULL;
  void* a = NULL;
  void* b = NULL;
  unsigned char byte = 0;
  int seen = 0;
  mtiaMalloc(&a, 1 << 16);
  mtiaMalloc(&b, 1 << 16);
  mtiaStreamCreate(&one);
  mtiaStreamCreate(&two);
  mtiaEventCreate(&event);

  say("set in one", mtiaMemsetAsync(a, 1, 1 << 16, one));
  say("copy in the default stream", mtiaMemcpyAsync(b, a, 1 << 16, mtiaMemcpyDeviceToDevice, NULL));
  say("set in two", mtiaMemsetAsync(a, 2, 1 << 16, two));
  say("record in two", mtiaEventRecord(event, two));
  say("host function in two", mtiaLaunchHostFunc(two, note, &seen));
  say("synchronize the event", mtiaEventSynchronize(event));
  say("query the event", mtiaEventQuery(event));
  say("read", mtiaMemcpy(&byte, b, 1, mtiaMemcpyDeviceToHost));
  printf("the copy has %d\n", byte);
  say("read", mtiaMemcpy(&byte, a, 1, mtiaMemcpyDeviceToHost));
  printf("the first has %d\n", byte);
  say("synchronize two", mtiaStreamSynchronize(two));
  printf("the host function was %s\n", seen ? "called" : "not called");
  say("query one", mtiaStreamQuery(one));

  mtiaEventDestroy(event);
  mtiaStreamDestroy(one);
  mtiaStreamDestroy(two);
  mtiaFree(a);
  mtiaFree(b);
  return 0;
}
