// Nodes that a program adds to a graph itself, and the memory of graphs.
#include "simulator/cuda/driver/internal_api.hpp"

#include <utility>

#include "simulator/cuda/driver/copies.hpp"

using namespace cuda_sim;

namespace {

CUresult add(Call& call, CUgraphNode* out, CUgraph graph, const CUgraphNode* after, std::size_t count, GraphNode node) {
  CUgraphNode made = out ? call.driver.graphs.add(graph, std::move(node), after, count) : nullptr;
  if (!made) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *out = made;
  return CUDA_SUCCESS;
}

template <class Body>
CUresult with_device(const char* name, CUdevice device, Body&& body) {
  return with_driver(
      name, [&](Call& call) { return call.driver.has_device(device) ? body(call.driver) : CUDA_ERROR_INVALID_DEVICE; });
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                     size_t count) {
  return with_driver(__func__, [&](Call& call) { return add(call, node, graph, after, count, {}); });
}

#if CUDA_VERSION >= 12000
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                         size_t count, const CUDA_KERNEL_NODE_PARAMS* what) {
  return with_driver(__func__, [&](Call& call) {
    const CUfunction kernel = !what ? nullptr : what->func ? what->func : reinterpret_cast<CUfunction>(what->kern);
    return kernel && call.driver.modules.has(kernel)
               ? add(call, node, graph, after, count, to_node(sim::Kernel{call.driver.kernel_ticks}))
               : CUDA_ERROR_INVALID_VALUE;
  });
}
#endif

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                    size_t count, const CUDA_HOST_NODE_PARAMS* what) {
  return with_driver(__func__, [&](Call& call) {
    return what && what->fn ? add(call, node, graph, after, count, to_node(sim::HostFunction{what->fn, what->userData}))
                            : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                      size_t count, const CUDA_MEMCPY3D* what, CUcontext) {
  return with_driver(__func__, [&](Call& call) {
    Transfer transfer;
    const CUresult code = what ? to_transfer(call.driver, *what, transfer) : CUDA_ERROR_INVALID_VALUE;
    return code == CUDA_SUCCESS ? add(call, node, graph, after, count, to_node(std::move(transfer.copy))) : code;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                      size_t count, const CUDA_MEMSET_NODE_PARAMS* what, CUcontext) {
  return with_driver(__func__, [&](Call& call) {
    if (!what || (what->elementSize != 1 && what->elementSize != 2 && what->elementSize != 4)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const sim::Fill fill{.to = what->dst,
                         .value = what->value,
                         .element = what->elementSize,
                         .width = what->width * what->elementSize,
                         .height = what->height,
                         .pitch = what->pitch};
    return add(call, node, graph, after, count, to_node(fill));
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                        size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* what) {
  return with_driver(
      __func__,
      [&](Call& call) {
        if (!what || what->bytesize == 0 || what->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        const CUdevice device = what->poolProps.location.id;
        if (!call.driver.has_device(device)) {
          return CUDA_ERROR_INVALID_DEVICE;
        }
        CUdeviceptr memory = 0;
        CUresult code = call.driver.graph_memory.reserve(device, what->bytesize, memory);
        if (code == CUDA_SUCCESS) {
          code = add(call, node, graph, after, count,
                     {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .memory = memory, .size = what->bytesize});
        }
        if (code == CUDA_SUCCESS) {
          what->dptr = memory;
        }
        return code;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                       size_t count, CUdeviceptr pointer) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.graph_memory.has(pointer)
               ? add(call, node, graph, after, count, {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .memory = pointer})
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
  return with_driver(__func__, [&](Call& call) {
    const auto node = call.driver.graphs.find(handle);
    if (!pointer || !node || node->type != CU_GRAPH_NODE_TYPE_MEM_FREE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *pointer = node->memory;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice device) {
  return with_device(__func__, device, [](Driver& driver) {
    driver.pools.collect();  // nothing is held back beyond that
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                              void* value) {
  return with_device(__func__, device, [&](Driver& driver) {
    if (!value || attribute < CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    driver.pools.collect();
    const GraphMemory::Usage usage = driver.graph_memory.usage(device);
    const bool highest =
        attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    *static_cast<cuuint64_t*>(value) = highest ? usage.highest : usage.used;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                              void* value) {
  return with_device(__func__, device, [&](Driver& driver) {
    const bool highest =
        attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (!value || !highest || *static_cast<cuuint64_t*>(value) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    driver.graph_memory.reset_highest(device);
    return CUDA_SUCCESS;
  });
}
