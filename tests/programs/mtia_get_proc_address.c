/* Takes every function it uses from mtiaGetProcAddress, as libraries do that are built against several drivers. */
#include <string.h>

#include "tests/programs/mtia_say.h"

static void* find(const char* name, int version) {
  void* fn = &fn;
  const mtiaResult_t result = mtiaGetProcAddress(name, version, &fn);
  printf("%s of %d: %s, %s\n", name, version, mtiaGetErrorName(result),
         result == MTIA_ERROR_INVALID_VALUE ? "not asked further"
         : fn != NULL                       ? "found"
                                            : "NULL");
  return result == MTIA_SUCCESS ? fn : NULL;
}

typedef mtiaResult_t (*Malloc)(void**, size_t);
typedef mtiaResult_t (*Free)(void*);
typedef mtiaResult_t (*Resolve)(const char*, int, void**);

int main(void) {
  const Malloc allocate = (Malloc)find("mtiaMalloc", 1000);
  const Free release = (Free)find("mtiaFree", MTIA_VERSION);
  const Resolve resolve = (Resolve)find("mtiaGetProcAddress", MTIA_VERSION);
  void* block = NULL;
  void* again = NULL;
  find("mtiaMallocManaged", MTIA_VERSION);
  find("", MTIA_VERSION);
  find("mtiaMalloc", MTIA_VERSION + 10);
  find("mtiaMalloc", 900);
  find("mtiaMemGetAddressRange", 1000);
  find("mtiaMemGetAddressRange", 1010);
  say("no name", mtiaGetProcAddress(NULL, MTIA_VERSION, &again));
  say("no result", mtiaGetProcAddress("mtiaMalloc", MTIA_VERSION, NULL));
  if (allocate == NULL || release == NULL || resolve == NULL) return 1;

  say("looked up again", resolve("mtiaMalloc", MTIA_VERSION, &again));
  printf("it is %s\n", again == (void*)allocate ? "the same" : "another");
  say("malloc", allocate(&block, 100000));
  say("interior free", release((char*)block + 512));
  say("free", release(block));
  return 0;
}
