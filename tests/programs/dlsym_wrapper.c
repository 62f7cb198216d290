/* A library with a dlsym of its own that looks everything up in the next one, as overlays and tracers have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

void* dlsym(void* handle, const char* name) {
  static void* (*next)(void*, const char*);
  if (next == NULL) {
    /* By its version, as dlsym itself can't be asked: the one since glibc 2.34, or the one before on x86-64. */
    next = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (next == NULL) next = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (next == NULL) abort();
  }
  return next(handle, name);
}
