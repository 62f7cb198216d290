/* Makes a context by each of the four functions that the driver has for it, each with parameters of its own, and uses
 * memory in it. */
#define __CUDA_API_VERSION_INTERNAL
#include "tests/programs/cuda_driver_say.h"

static CUcontext context;

static void use(const char* name, CUresult made) {
  CUdeviceptr blocks[2] = {0, 0};
  say(name, made);
  if (made != CUDA_SUCCESS) return;
  say("alloc", cuMemAlloc_v2(&blocks[0], 1000));
  say("alloc", cuMemAlloc_v2(&blocks[1], 3 << 20));
  say("memset", cuMemsetD8_v2(blocks[0], 1, 1000));
  say("free", cuMemFree_v2(blocks[0]));
  say("destroy", cuCtxDestroy_v2(context));
  say("free of what went with it", cuMemFree_v2(blocks[1]));
}

int main(void) {
  say("init", cuInit(0));
  use("the first", cuCtxCreate(&context, 0, 0));
  use("the second", cuCtxCreate_v2(&context, 0, 0));
  use("the third", cuCtxCreate_v3(&context, NULL, 0, 0, 0));
#if CUDA_VERSION >= 12050
  use("the fourth", cuCtxCreate_v4(&context, NULL, 0, 0));
#endif
  return 0;
}
