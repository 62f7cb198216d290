/* Memory of a device that is not the current one's: made without any context, taken from another device's pool, freed
 * while another device is current. Holds each until a line comes. */
#define __CUDA_API_VERSION_INTERNAL
#include <string.h>

#include "tests/programs/cuda_driver_say.h"

static void wait_for_a_line(const char* word) {
  puts(word);
  fflush(stdout);
  for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
  }
}

int main(void) {
  CUcontext contexts[2] = {NULL, NULL};
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp of_memory;
  CUmemPoolProps of_pool;
  CUmemoryPool pool = NULL;
  CUdeviceptr ordered = 0;
  CUdeviceptr pooled = 0;
  memset(&of_memory, 0, sizeof of_memory);
  memset(&of_pool, 0, sizeof of_pool);
  of_memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  of_memory.location.id = 1;
  of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_pool.location = of_memory.location;
  say("init", cuInit(0));
  say("create without a context", cuMemCreate(&handle, 4 << 20, &of_memory, 0));
  wait_for_a_line("created");
  for (int device = 0; device < 2; ++device) {
    say("retain", cuDevicePrimaryCtxRetain(&contexts[device], device));
  }
  say("current: 0", cuCtxSetCurrent(contexts[0]));
  say("alloc in order", cuMemAllocAsync(&ordered, 300 << 10, NULL));
  say("pool of the other", cuMemPoolCreate(&pool, &of_pool));
  say("alloc from it", cuMemAllocFromPoolAsync(&pooled, 500 << 10, pool, NULL));
  wait_for_a_line("allocated");
  say("current: 1", cuCtxSetCurrent(contexts[1]));
  say("free of the first's", cuMemFreeAsync(ordered, NULL));
  say("synchronize", cuStreamSynchronize(NULL));
  wait_for_a_line("freed");
  say("current: 0", cuCtxSetCurrent(contexts[0]));
  say("free of the second's", cuMemFree_v2(pooled));
  say("no context", cuCtxSetCurrent(NULL));
  say("release", cuMemRelease(handle));
  wait_for_a_line("released");
  return 0;
}
