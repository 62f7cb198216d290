/* Fills a device of 16 MiB, gives that back, and has graphs take as much: made ready, uploaded and launched in every
 * form that the driver has. A graph that needs more than there is runs none of its nodes. */
#define __CUDA_API_VERSION_INTERNAL
#include <stdlib.h>
#include <string.h>

#include "tests/programs/cuda_driver_say.h"

static const size_t kFill = 10 << 20;
static CUcontext context;

static CUgraph graph_of(size_t size, CUdeviceptr set_first) {
  CUgraph graph = NULL;
  CUgraphNode set = NULL;
  CUgraphNode taken = NULL;
  CUgraphNode freed = NULL;
  CUDA_MEM_ALLOC_NODE_PARAMS memory;
  CUDA_MEMSET_NODE_PARAMS value;
  memset(&memory, 0, sizeof memory);
  memset(&value, 0, sizeof value);
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.bytesize = size;
  value.dst = set_first;
  value.value = 1;
  value.elementSize = 1;
  value.width = 1;
  value.height = 1;
  say("graph create", cuGraphCreate(&graph, 0));
  if (set_first != 0) {
    say("memset node", cuGraphAddMemsetNode(&set, graph, NULL, 0, &value, context));
  }
  say("memory node", cuGraphAddMemAllocNode(&taken, graph, set_first != 0 ? &set : NULL, set_first != 0, &memory));
  say("free node", cuGraphAddMemFreeNode(&freed, graph, &taken, 1, memory.dptr));
  return graph;
}

static CUresult instantiate(int form, CUgraphExec* made, CUgraph graph) {
  CUDA_GRAPH_INSTANTIATE_PARAMS how;
  memset(&how, 0, sizeof how);
  switch (form) {
    case 0:
      return cuGraphInstantiate(made, graph, NULL, NULL, 0);
    case 1:
      return cuGraphInstantiate_v2(made, graph, NULL, NULL, 0);
    case 2:
      return cuGraphInstantiateWithFlags(made, graph, 0);
    case 3:
      return cuGraphInstantiateWithParams(made, graph, &how);
    default:
      return cuGraphInstantiateWithParams_ptsz(made, graph, &how);
  }
}

static void launch_in_form(int form, CUstream stream) {
  CUdeviceptr block = 0;
  CUgraphExec made = NULL;
  CUgraph graph = graph_of(12 << 20, 0);
  printf("form %d\n", form);
  say("alloc", cuMemAlloc_v2(&block, kFill));
  say("free", cuMemFree_v2(block));
  say("instantiate", instantiate(form, &made, graph));
  say("upload", form % 2 == 0 ? cuGraphUpload(made, stream) : cuGraphUpload_ptsz(made, stream));
  say("launch", form % 2 == 0 ? cuGraphLaunch(made, stream) : cuGraphLaunch_ptsz(made, stream));
  say("synchronize", cuStreamSynchronize(stream));
  say("destroy", cuGraphExecDestroy(made));
  say("destroy", cuGraphDestroy(graph));
}

static void launch_too_large(CUstream stream) {
  CUdeviceptr block = 0;
  CUgraphExec made = NULL;
  unsigned char seen = 0;
  CUgraph graph = NULL;
  say("alloc", cuMemAlloc_v2(&block, 1000));
  say("set", cuMemsetD8_v2(block, 9, 1));
  graph = graph_of(20 << 20, block);
  say("instantiate", cuGraphInstantiateWithFlags(&made, graph, 0));
  say("launch", cuGraphLaunch(made, stream));
  say("synchronize", cuStreamSynchronize(stream));
  say("read", cuMemcpyDtoH_v2(&seen, block, 1));
  printf("the byte is %d\n", seen);
}

int main(void) {
  CUstream stream = NULL;
  setenv("CUDA_SIM_MEMORY", "16MiB", 1);
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&context, 0));
  say("set current", cuCtxSetCurrent(context));
  say("stream create", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (int form = 0; form < 5; ++form) {
    launch_in_form(form, stream);
  }
  launch_too_large(stream);
  return 0;
}
