/* Opens the runtime with dlopen and RTLD_LOCAL, as plug-ins and foreign-function interfaces do, and the driver after
 * it. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#ifndef CUDART_NAME
#define CUDART_NAME "libcudart.so.13"
#endif

typedef int (*allocate_t)(void**, size_t);
typedef int (*release_t)(void*);
typedef int (*allocate_in_driver_t)(unsigned long long*, size_t);
typedef int (*release_in_driver_t)(unsigned long long);

static void* open_library(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  return library;
}

int main(void) {
  void* runtime = open_library(CUDART_NAME);
  if (runtime == NULL) return 1;
  allocate_t allocate = (allocate_t)dlsym(runtime, "cudaMalloc");
  release_t release = (release_t)dlsym(runtime, "cudaFree");
  if (allocate == NULL || release == NULL) return 1;
  void* block = NULL;
  void* large = NULL;
  printf("a function that isn't there: %s\n", dlsym(runtime, "cudaNoSuchThing") == NULL ? "NULL" : "found");
  printf("in the global scope: %s\n", dlsym(RTLD_DEFAULT, "cudaStreamCreate") == NULL ? "NULL" : "found");
  printf("malloc: %d\n", allocate(&block, 12345));
  printf("malloc: %d\n", allocate(&large, 5 << 20));
  printf("interior free: %d\n", release((char*)block + 1024));

  void* driver = open_library("libcuda.so.1");
  if (driver == NULL) return 1;
  allocate_in_driver_t take = (allocate_in_driver_t)dlsym(driver, "cuMemAlloc_v2");
  release_in_driver_t give = (release_in_driver_t)dlsym(driver, "cuMemFree_v2");
  if (take == NULL || give == NULL) return 1;
  unsigned long long address = 0;
  printf("alloc: %d\n", take(&address, 70000));
  printf("free through the runtime: %d\n", release((void*)address));
  printf("free through the driver: %d\n", give((unsigned long long)(size_t)block));
  printf("second free: %d\n", release(block));
  printf("free: %d\n", release(large));
  printf("dlclose: %d %d\n", dlclose(driver), dlclose(runtime));
  return 0;
}
