/* Loads a library with NVTX ranges, and unloads it again while one is open: three times. */
#include <dlfcn.h>
#include <mtia.h>
#include <stdio.h>
#include <string.h>

typedef void (*Call)(void);

static Call find(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  Call call = NULL;
  memcpy(&call, &symbol, sizeof(call));
  return call;
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    void* const library = dlopen(NVTX_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    void* block = NULL;
    if (library == NULL) return 1;
    find(library, "plugin_push")();
    if (mtiaMalloc(&block, 4 << 20) != MTIA_SUCCESS || mtiaFree(block) != MTIA_SUCCESS) return 1;
    if (i < 2) find(library, "plugin_pop")();
    dlclose(library);
  }
  puts("unloaded");
  return 0;
}
