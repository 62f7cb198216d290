/* Asks the driver for its functions by name and version, as runtimes do, and uses what it is given. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

typedef CUresult (*resolve_t)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
typedef CUresult (*resolve_v1_t)(const char*, void**, int, cuuint64_t);
typedef CUresult (*allocate_t)(CUdeviceptr*, size_t);
typedef CUresult (*release_t)(CUdeviceptr);

static resolve_t resolve;

static void* ask(const char* name, int version, cuuint64_t flags) {
  void* found = NULL;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult code = resolve(name, &found, version, flags, &status);
  printf("%s@%d/%d: %d, status %d, %s\n", name, version, (int)flags, code, (int)status,
         found != NULL ? "found" : "NULL");
  return found;
}

int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* old = NULL;
  void* found = NULL;
  CUdeviceptr block = 0;
  CUcontext context = NULL;
  if (driver == NULL) return 1;
  resolve = (resolve_t)dlsym(driver, "cuGetProcAddress_v2");
  if (resolve == NULL) return 1;
  ask("", 0, 0);
  old = ask("cuGetProcAddress", 11030, 0);
  resolve = (resolve_t)ask("cuGetProcAddress", 12000, 0);
  printf("without a status: %d\n", resolve("cuMemAlloc", &found, 3020, 0, NULL));
  printf("the old form: %d\n", ((resolve_v1_t)old)("cuMemAlloc", &found, 3020, 0));
  printf("the old form of what isn't there: %d\n", ((resolve_v1_t)old)("cuNoSuchThing", &found, 3020, 0));
  ask("cuNoSuchThing", 12000, 0);
  ask("cuMemAlloc", 1000, 0);
  ask("cuMemAlloc", 99000, 0);
  ask("cuMemAlloc", 3020, 7);
  printf("two ABIs: %s\n", ask("cuMemAlloc", 2000, 0) != ask("cuMemAlloc", 3020, 0) ? "yes" : "no");
  printf("two default streams: %s\n", ask("cuMemcpyHtoD", 12000, 0) != ask("cuMemcpyHtoD", 12000, 2) ? "yes" : "no");
  printf("one where it doesn't matter: %s\n",
         ask("cuMemAlloc", 12000, 0) == ask("cuMemAlloc", 12000, 2) ? "yes" : "no");

  CUresult (*init)(unsigned) = (CUresult(*)(unsigned))ask("cuInit", 2000, 0);
  CUresult (*retain)(CUcontext*, CUdevice) =
      (CUresult(*)(CUcontext*, CUdevice))ask("cuDevicePrimaryCtxRetain", 7000, 0);
  CUresult (*set_current)(CUcontext) = (CUresult(*)(CUcontext))ask("cuCtxSetCurrent", 4000, 0);
  allocate_t allocate = (allocate_t)ask("cuMemAlloc", 3020, 0);
  release_t release = (release_t)ask("cuMemFree", 3020, 0);
  printf("init: %d\n", init(0));
  printf("retain: %d\n", retain(&context, 0));
  printf("set current: %d\n", set_current(context));
  printf("alloc: %d\n", allocate(&block, 1000));
  printf("free: %d\n", release(block));
  printf("free again: %d\n", release(block));
  return 0;
}
