/* A device of 16 MiB, most of which was in use a moment ago: each kind of memory still finds room for 12 MiB. */
#define __CUDA_API_VERSION_INTERNAL
#include <stdlib.h>
#include <string.h>

#include "tests/programs/cuda_driver_say.h"

enum { kMiB = 1 << 20, kMuch = 12 * kMiB, kBlocks = 7 };

static void use_for_a_while(void) {
  CUdeviceptr blocks[kBlocks];
  int failures = 0;
  for (int i = 0; i < kBlocks; ++i) failures += cuMemAlloc_v2(&blocks[i], 2 * kMiB) != CUDA_SUCCESS;
  for (int i = 0; i < kBlocks; ++i) failures += cuMemFree_v2(blocks[i]) != CUDA_SUCCESS;
  printf("used and freed, %d failures\n", failures);
}

int main(void) {
  CUcontext context = NULL;
  CUdeviceptr block = 0;
  CUmemoryPool pool = NULL;
  CUmemGenericAllocationHandle handle = 0;
  CUarray array = NULL;
  CUmipmappedArray mipmap = NULL;
  CUmemPoolProps of_pool;
  CUmemAllocationProp of_memory;
  size_t pitch = 0;
  CUDA_ARRAY_DESCRIPTOR flat = {.Width = 1024, .Height = 3072, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
  CUDA_ARRAY3D_DESCRIPTOR deep = {
      .Width = 1024, .Height = 1024, .Depth = 3, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
  CUDA_ARRAY3D_DESCRIPTOR level = {.Width = 1024, .Height = 3072, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
  memset(&of_pool, 0, sizeof of_pool);
  memset(&of_memory, 0, sizeof of_memory);
  of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_pool.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  of_memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_memory.location = of_pool.location;
  setenv("CUDA_SIM_MEMORY", "16MiB", 1);
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&context, 0));
  say("set current", cuCtxSetCurrent(context));

  use_for_a_while();
  say("alloc", cuMemAlloc_v2(&block, kMuch));
  say("free", cuMemFree_v2(block));
  use_for_a_while();
  say("in rows", cuMemAllocPitch_v2(&block, &pitch, 4096, 3072, 4));
  say("free", cuMemFree_v2(block));
  use_for_a_while();
  say("in order", cuMemAllocAsync(&block, kMuch, NULL));
  say("free", cuMemFree_v2(block));
  use_for_a_while();
  say("pool", cuMemPoolCreate(&pool, &of_pool));
  say("of a pool", cuMemAllocFromPoolAsync(&block, kMuch, pool, NULL));
  say("free", cuMemFree_v2(block));
  use_for_a_while();
  say("physical", cuMemCreate(&handle, kMuch, &of_memory, 0));
  say("release", cuMemRelease(handle));
  use_for_a_while();
  say("array", cuArrayCreate_v2(&array, &flat));
  say("destroy", cuArrayDestroy(array));
  use_for_a_while();
  say("deep array", cuArray3DCreate_v2(&array, &deep));
  say("destroy", cuArrayDestroy(array));
  use_for_a_while();
  say("mipmap", cuMipmappedArrayCreate(&mipmap, &level, 1));
  say("destroy", cuMipmappedArrayDestroy(mipmap));
  use_for_a_while();
  say("too much in order", cuMemAllocAsync(&block, 17 * kMiB, NULL));
  return 0;
}
