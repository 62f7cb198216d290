/* A program that knows nothing of CUDA opens a plug-in that does. The plug-in's directory is the program's. */
#include <dlfcn.h>
#include <stdio.h>

#include "tests/programs/cuda_plugin.h"

int main(void) {
  void* plugin = dlopen(CUDA_PLUGIN_FILE, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*allocate)(void**, size_t) = (int (*)(void**, size_t))dlsym(plugin, "plugin_allocate");
  int (*release)(void*) = (int (*)(void*))dlsym(plugin, "plugin_release");
  if (allocate == NULL || release == NULL) return 1;
  void* small = NULL;
  void* large = NULL;
  printf("allocate: %d\n", allocate(&small, 1000));
  printf("allocate: %d\n", allocate(&large, 3 << 20));
  printf("release of the middle: %d\n", release((char*)small + 512));
  printf("release: %d\n", release(small));
  printf("release: %d\n", release(large));
  printf("release again: %d\n", release(large));
  return 0;
}
