/* Allocates in ways that nothing accounts for, then holds its memory until a line comes. */
#define __CUDA_API_VERSION_INTERNAL
#include <string.h>

#include "tests/programs/cuda_driver_say.h"

int main(void) {
  CUcontext context = NULL;
  CUstream stream = NULL;
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  CUdeviceptr ptr = 0;
  CUdeviceptr captured = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUmulticastObjectProp multicast;
  CUDA_MEM_ALLOC_NODE_PARAMS memory;
  CUgraphNodeParams any;
  CUuuid table;
  const void* functions = NULL;
  char line[8];
  memset(&multicast, 0, sizeof multicast);
  memset(&memory, 0, sizeof memory);
  memset(&any, 0, sizeof any);
  memset(&table, 0, sizeof table);
  say("export table", cuGetExportTable(&functions, &table));
  say("memory node", cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
  say("memory node", cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
  say("free node", cuGraphAddMemFreeNode(&node, graph, NULL, 0, ptr));
  any.type = CU_GRAPH_NODE_TYPE_EMPTY;
  say("empty node", cuGraphAddNode(&node, graph, NULL, 0, &any));
  say("empty node", cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &any));
  any.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  say("any node", cuGraphAddNode(&node, graph, NULL, 0, &any));
  say("any node", cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &any));
  say("no node", cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, NULL));
  say("multicast", cuMulticastCreate(&handle, &multicast));
  say("sparse", cuMemMapArrayAsync(NULL, 0, stream));
  say("sparse", cuMemMapArrayAsync_ptsz(NULL, 0, stream));
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&context, 0));
  say("set current", cuCtxSetCurrent(context));
  say("alloc", cuMemAlloc_v2(&ptr, 4096));
  say("stream", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  say("begin", cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  say("alloc in it", cuMemAllocAsync(&captured, 4096, stream));
  say("end", cuStreamEndCapture(stream, &graph));
  printf("held\n");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) {
    line[0] = '\0';
  }
  say("free", cuMemFree_v2(ptr));
  return 0;
}
