/* Opens the driver with dlopen and RTLD_LOCAL, as plug-ins do. */
#include <dlfcn.h>
#include <mtia.h>
#include <stdio.h>

int main(void) {
  void* driver = dlopen("libmtia.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  mtiaResult_t (*allocate)(void**, size_t) = (mtiaResult_t(*)(void**, size_t))dlsym(driver, "mtiaMalloc");
  mtiaResult_t (*release)(void*) = (mtiaResult_t(*)(void*))dlsym(driver, "mtiaFree");
  if (allocate == NULL || release == NULL) return 1;
  printf("a function that isn't there: %s\n", dlsym(driver, "mtiaNoSuchThing") == NULL ? "NULL" : "found");
  void* block = NULL;
  printf("malloc: %d\n", allocate(&block, 12345));
  printf("interior free: %d\n", release((char*)block + 1024));
  printf("free: %d\n", release(block));
  printf("second free: %d\n", release(block));
  printf("dlclose: %d\n", dlclose(driver));
  return 0;
}
