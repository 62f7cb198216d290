/* A second copy of the driver, in a namespace of its own, beside the one that the program is linked to: two drivers
 * that know nothing of each other. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "tests/programs/cuda_driver_say.h"

typedef CUresult (*init_t)(unsigned);
typedef CUresult (*retain_t)(CUcontext*, CUdevice);
typedef CUresult (*set_current_t)(CUcontext);
typedef CUresult (*allocate_t)(CUdeviceptr*, size_t);
typedef CUresult (*release_t)(CUdeviceptr);

int main(void) {
  CUcontext context = NULL;
  CUcontext other_context = NULL;
  CUdeviceptr block = 0;
  CUdeviceptr others = 0;
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&context, 0));
  say("set current", cuCtxSetCurrent(context));
  say("alloc", cuMemAlloc(&block, 1000));
  void* driver = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
  if (driver == NULL) {
    printf("no second copy\n");
    return 1;
  }
  const allocate_t allocate = (allocate_t)dlsym(driver, "cuMemAlloc_v2");
  const release_t release = (release_t)dlsym(driver, "cuMemFree_v2");
  printf("another function: %s\n", allocate != &cuMemAlloc ? "yes" : "no");
  say("init the other", ((init_t)dlsym(driver, "cuInit"))(0));
  say("retain in the other", ((retain_t)dlsym(driver, "cuDevicePrimaryCtxRetain"))(&other_context, 0));
  say("set current in the other", ((set_current_t)dlsym(driver, "cuCtxSetCurrent"))(other_context));
  say("alloc in the other", allocate(&others, 1000));
  say("free in the wrong one", cuMemFree(others));
  say("free in the other", release(others));
  say("free", cuMemFree(block));
  return 0;
}
