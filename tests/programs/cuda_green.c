/* Works in green contexts: allocates in one, frees in another or in none, destroys the last that holds its primary. */
#include "tests/programs/cuda_driver_say.h"

static CUgreenCtx green_of(CUdevice device, CUcontext* context) {
  CUdevResource all;
  CUdevResource half[2];
  unsigned int groups = 2;
  CUdevResourceDesc description = NULL;
  CUgreenCtx green = NULL;
  say("device resources", cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  say("split", cuDevSmResourceSplitByCount(half, &groups, &all, NULL, 0, all.sm.smCount / 2));
  printf("%u groups\n", groups);
  say("describe", cuDevResourceGenerateDesc(&description, half, 1));
  say("create", cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  say("convert", cuCtxFromGreenCtx(context, green));
  return green;
}

static void say_state(CUdevice device) {
  unsigned int flags = 0;
  int active = 0;
  cuDevicePrimaryCtxGetState(device, &flags, &active);
  printf("primary context of %d is active: %s\n", device, active ? "yes" : "no");
}

int main(void) {
  CUcontext first_context = NULL;
  CUcontext second_context = NULL;
  CUdeviceptr small = 0;
  CUdeviceptr large = 0;
  CUstream stream = NULL;
  CUdevice device = -1;
  CUcontext owner = NULL;
  say("init", cuInit(0));
  CUgreenCtx first = green_of(0, &first_context);
  CUgreenCtx second = green_of(0, &second_context);
  say_state(0);
  say("green context as it is", cuCtxSetCurrent((CUcontext)first));
  say("set current", cuCtxSetCurrent(first_context));
  say("device", cuCtxGetDevice(&device));
  say("alloc", cuMemAlloc(&small, 1000));
  say("alloc", cuMemAlloc(&large, 3 << 20));
  say("owner", cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, large));
  printf("owned by a green context: %s\n", owner == first_context || owner == second_context ? "yes" : "no");
  say("stream create", cuGreenCtxStreamCreate(&stream, first, CU_STREAM_NON_BLOCKING, 0));
  say("memset", cuMemsetD8Async(large, 7, 3 << 20, stream));
  say("set current", cuCtxSetCurrent(second_context));
  say("free in the other", cuMemFree(large));
  say("free again", cuMemFree(large));
  say("stream destroy", cuStreamDestroy(stream));
  say("destroy", cuGreenCtxDestroy(first));
  say("destroy again", cuGreenCtxDestroy(first));
  say_state(0);
  say("memset", cuMemsetD8(small, 1, 1000));
  say("set current", cuCtxSetCurrent(NULL));
  say("destroy the last", cuGreenCtxDestroy(second));
  say_state(0);
  say("free of what is gone", cuMemFree(small));
  return 0;
}
