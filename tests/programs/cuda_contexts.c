/* Allocates and frees in and across two contexts of one device, with work on a stream in each, ends both and begins
 * again. Asks the driver for nothing but memory: which context is current and the like it knows by itself. */
#define __CUDA_API_VERSION_INTERNAL
#include "tests/programs/cuda_driver_say.h"

enum { kBlocks = 24 };
static const size_t kLarge = 3 << 20;

static void work(const char* where, CUstream stream, unsigned char value) {
  CUdeviceptr block = 0;
  unsigned char seen = 0;
  say(where, cuMemAlloc_v2(&block, kLarge));
  say("  set", cuMemsetD8Async(block, value, kLarge, stream));
  say("  synchronize", cuStreamSynchronize(stream));
  say("  read", cuMemcpyDtoH_v2(&seen, block + kLarge - 1, 1));
  printf("  the byte is %d\n", seen);
  say("  free", cuMemFree_v2(block));
}

static void churn(const char* where) {
  CUdeviceptr blocks[kBlocks] = {0};
  int taken = 0;
  int freed = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kBlocks; ++i) taken += cuMemAlloc_v2(&blocks[i], (size_t)(i + 1) * 50000) == CUDA_SUCCESS;
    for (int i = 0; i < kBlocks; ++i) freed += cuMemFree_v2(blocks[i]) == CUDA_SUCCESS;
  }
  printf("%s: %d taken, %d freed\n", where, taken, freed);
}

int main(void) {
  CUcontext primary = NULL;
  CUcontext other = NULL;
  CUstream stream = NULL;
  CUstream others = NULL;
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&primary, 0));
  say("set current", cuCtxSetCurrent(primary));
  say("stream create", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  say("alloc", cuMemAlloc_v2(&first, 1000));
  work("alloc for work", stream, 7);
  say("create", cuCtxCreate_v2(&other, 0, 0));
  say("stream create", cuStreamCreate(&others, CU_STREAM_NON_BLOCKING));
  say("alloc in the other", cuMemAlloc_v2(&second, 1000));
  say("free from the other", cuMemFree_v2(first));
  say("free again", cuMemFree_v2(first));
  work("alloc for work in the other", others, 8);
  churn("in the other");
  say("set current", cuCtxSetCurrent(primary));
  say("free from the first", cuMemFree_v2(second));
  churn("in the first");
  say("stream destroy", cuStreamDestroy_v2(stream));
  say("destroy", cuCtxDestroy_v2(other));
  work("alloc after its end", CU_STREAM_PER_THREAD, 9);
  say("reset", cuDevicePrimaryCtxReset_v2(0));
  say("retain", cuDevicePrimaryCtxRetain(&primary, 0));
  say("set current", cuCtxSetCurrent(primary));
  churn("after a reset");
  say("release", cuDevicePrimaryCtxRelease_v2(0));
  say("release", cuDevicePrimaryCtxRelease_v2(0));
  return 0;
}
