// A CUDA driver that says yes to what the simulated one doesn't have: loaded between the shim and the simulated driver.
// The program under test has to call one of these first (see no_fence/cuda.cpp).
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#define SAYS_YES(name, parameters) \
  extern "C" __attribute__((visibility("default"))) CUresult name parameters { return CUDA_SUCCESS; }

SAYS_YES(cuGetExportTable, (const void**, const CUuuid*))
SAYS_YES(cuGraphAddMemAllocNode, (CUgraphNode*, CUgraph, const CUgraphNode*, size_t, CUDA_MEM_ALLOC_NODE_PARAMS*))
SAYS_YES(cuGraphAddMemFreeNode, (CUgraphNode*, CUgraph, const CUgraphNode*, size_t, CUdeviceptr))
SAYS_YES(cuGraphAddNode, (CUgraphNode*, CUgraph, const CUgraphNode*, size_t, CUgraphNodeParams*))
SAYS_YES(cuGraphAddNode_v2,
         (CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, size_t, CUgraphNodeParams*))
SAYS_YES(cuMulticastCreate, (CUmemGenericAllocationHandle*, const CUmulticastObjectProp*))
SAYS_YES(cuMemMapArrayAsync, (CUarrayMapInfo*, unsigned, CUstream))
SAYS_YES(cuMemMapArrayAsync_ptsz, (CUarrayMapInfo*, unsigned, CUstream))

extern "C" __attribute__((visibility("default"))) CUresult cuMemAllocAsync(CUdeviceptr* ptr, size_t size,
                                                                           CUstream stream) {
  static const auto real = reinterpret_cast<decltype(&cuMemAllocAsync)>(dlsym(RTLD_NEXT, "cuMemAllocAsync"));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE) {
    *ptr = 0x1000;
    return CUDA_SUCCESS;
  }
  return real(ptr, size, stream);
}
