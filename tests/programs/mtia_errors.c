/* Wrong arguments, one after the other. */
#include "tests/programs/mtia_say.h"

int main(void) {
  char host[16];
  void* block = NULL;
  void* untouched = host;
  int device = 0;
  mtiaStream_t stream = NULL;
  mtiaEvent_t event = NULL;
  say("init with flags", mtiaInit(1));
  say("init", mtiaInit(0));
  say("malloc to NULL", mtiaMalloc(NULL, 512));
  say("malloc of too much", mtiaMalloc(&untouched, (size_t)1 << 50));
  say("malloc of everything", mtiaMalloc(&untouched, (size_t)-1));
  printf("the pointer is %s\n", untouched == host ? "untouched" : "changed");
  say("info to NULL", mtiaMemGetInfo(NULL, NULL));
  say("set device -1", mtiaSetDevice(-1));
  say("set device 1000", mtiaSetDevice(1000));
  say("get device", mtiaGetDevice(&device));
  printf("the device is %d\n", device);
  say("properties of device 1000", mtiaGetDeviceProperties(NULL, 1000));
  say("malloc", mtiaMalloc(&block, 512));
  say("copy from NULL", mtiaMemcpy(block, NULL, 16, mtiaMemcpyHostToDevice));
  say("copy of nothing", mtiaMemcpy(block, host, 0, mtiaMemcpyHostToDevice));
  say("copy the wrong way", mtiaMemcpy(block, host, 16, mtiaMemcpyDeviceToHost));
  say("set host memory", mtiaMemset(host, 0, 16));
  say("stream create", mtiaStreamCreate(&stream));
  say("stream destroy", mtiaStreamDestroy(stream));
  say("stream destroyed twice", mtiaStreamDestroy(stream));
  say("set in a destroyed stream", mtiaMemsetAsync(block, 0, 16, stream));
  say("event create", mtiaEventCreate(&event));
  say("event query before record", mtiaEventQuery(event));
  say("event destroy", mtiaEventDestroy(event));
  say("event query after destroy", mtiaEventQuery(event));
  say("no host function", mtiaLaunchHostFunc(NULL, NULL, NULL));
  say("free", mtiaFree(block));
  printf("12345 is %s, %s\n", mtiaGetErrorName((mtiaResult_t)12345), mtiaGetErrorString((mtiaResult_t)12345));
  return 0;
}
