/* Loads its driver, looks whether it works, unloads it, and loads it again when it is needed; by then another thing
 * lies where it was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mtia.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static void* load(const char* name, void** library) {
  *library = dlopen(UNLOADABLE_MTIA, RTLD_NOW | RTLD_LOCAL);
  return *library == NULL ? NULL : dlsym(*library, name);
}

int main(void) {
  void* library = NULL;
  void* block = NULL;
  Dl_info place = {0};
  mtiaResult_t (*release)(void*) = (mtiaResult_t(*)(void*))load("mtiaFree", &library);
  if (release == NULL) {
    printf("no driver: %s\n", dlerror());
    return 1;
  }
  printf("free nothing: %d\n", release(NULL));
  dladdr(dlsym(library, "mtiaSetDevice"), &place);
  dlclose(library);
  printf("unloaded: %s\n", dlopen(UNLOADABLE_MTIA, RTLD_NOW | RTLD_NOLOAD) == NULL ? "yes" : "no");
  mmap(place.dli_fbase, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

  mtiaResult_t (*allocate)(void**, size_t) = (mtiaResult_t(*)(void**, size_t))load("mtiaMalloc", &library);
  release = (mtiaResult_t(*)(void*))dlsym(library, "mtiaFree");
  printf("malloc: %d\n", allocate(&block, 1000));
  printf("free: %d\n", release(block));
  printf("malloc: %d\n", allocate(&block, 3000000));
  return 0;
}
