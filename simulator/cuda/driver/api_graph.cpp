// Graphs: made node by node or captured, instantiated, launched.
#include "simulator/cuda/driver/internal_api.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulator/cuda/driver/copies.hpp"

using namespace cuda_sim;

namespace {

constexpr unsigned long long kFreeOnLaunch = 1;  // CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH

CUresult instantiate(const char* name, CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return with_context(
      name,
      [&](Call& call) {
        CUgraphExec made = out ? call.driver.graphs.instantiate(graph, flags & kFreeOnLaunch) : nullptr;
        if (!made) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        *out = made;
        return CUDA_SUCCESS;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult take_memory(Call& call, const Stream& stream, CUdeviceptr memory, bool frees_on_launch) {
  call.driver.pools.collect();
  if (call.driver.pools.is_being_freed(memory)) {
    call.driver.pools.drain();
  }
  if (call.driver.graph_memory.is_live(memory)) {
    if (!frees_on_launch) {
      return CUDA_ERROR_INVALID_VALUE;  // launched before, and not freed since
    }
    call.scheduler().synchronize(stream.core);
    call.driver.graph_memory.end(memory);
  }
  return call.driver.graph_memory.begin(memory);
}

// Of all nodes, before any of them runs: a launch that fails has done nothing.
template <class Executable>
CUresult take_memory(Call& call, const Stream& stream, const Executable& executable) {
  std::vector<CUdeviceptr> taken;
  for (const GraphNode& node : executable.nodes) {
    if (node.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      continue;
    }
    if (const CUresult code = take_memory(call, stream, node.memory, executable.frees_on_launch);
        code != CUDA_SUCCESS) {
      for (const CUdeviceptr memory : taken) {
        call.driver.graph_memory.end(memory);
      }
      return code;
    }
    taken.push_back(node.memory);
  }
  return CUDA_SUCCESS;
}

CUresult run(Call& call, const Stream& stream, const GraphNode& node) {
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return call.driver.pools.free_in_order(stream, node.memory);
    default:
      return to_code(call.driver.machine.submit(stream.core, node.work), *stream.context);
  }
}

CUresult launch(const char* name, CUgraphExec handle, CUstream stream_handle, bool zero_is_thread, bool only_upload) {
  return with_context(
      name,
      [&](Call& call) {
        const auto stream = call.driver.streams.find(stream_handle, *call.context, zero_is_thread);
        const auto executable = call.driver.graphs.find(handle);
        if (!stream || !executable) {
          return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        }
        if (!stream->context->is_alive()) {
          return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
        call.scope.note("nodes=%zu", executable->nodes.size());
        bool swallow = false;
        if (const CUresult code = call.driver.captures.admit_work(*stream, swallow); code != CUDA_SUCCESS) {
          return code;
        }
        if (only_upload) {
          return CUDA_SUCCESS;
        }
        if (swallow) {
          for (const GraphNode& node : executable->nodes) {
            call.driver.captures.add(*stream, node);  // a graph in a graph is its nodes
          }
          return CUDA_SUCCESS;
        }
        CUresult code = take_memory(call, *stream, *executable);
        for (std::size_t i = 0; code == CUDA_SUCCESS && i < executable->nodes.size(); ++i) {
          code = run(call, *stream, executable->nodes[i]);
        }
        return code;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return with_driver(__func__, [&](Call& call) {
    if (!graph || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *graph = call.driver.graphs.create();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.graphs.destroy(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return with_driver(__func__, [&](Call& call) {
    const auto nodes = call.driver.graphs.nodes_of(graph);
    if (!nodes || !count) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!out) {
      *count = nodes->size();
      return CUDA_SUCCESS;
    }
    for (std::size_t i = 0; i < *count; ++i) {
      out[i] = i < nodes->size() ? (*nodes)[i].handle : nullptr;
    }
    *count = std::min(*count, nodes->size());
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return with_driver(__func__, [&](Call& call) {
    const auto node = call.driver.graphs.find(handle);
    if (!node || !type) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *type = node->type;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*,
                                                    size_t) {
  return instantiate(__func__, executable, graph, 0);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*,
                                                       size_t) {
  return instantiate(__func__, executable, graph, 0);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                                             unsigned long long flags) {
  return instantiate(__func__, executable, graph, flags);
}

#if CUDA_VERSION >= 12000
namespace {

CUresult instantiate(const char* name, CUgraphExec* executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  const CUresult code = instantiate(name, how ? executable : nullptr, graph, how ? how->flags : 0);
  if (how) {
    how->hErrNode_out = nullptr;
    how->result_out = code == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  }
  return code;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                                              CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  return instantiate(__func__, executable, graph, how);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphInstantiateWithParams_ptsz(CUgraphExec* executable, CUgraph graph,
                                                                   CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  return instantiate(__func__, executable, graph, how);
}
#endif

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec executable) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.graphs.destroy(executable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return launch(__func__, executable, stream, false, false);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec executable, CUstream stream) {
  return launch(__func__, executable, stream, true, false);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return launch(__func__, executable, stream, false, true);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuGraphUpload_ptsz(CUgraphExec executable, CUstream stream) {
  return launch(__func__, executable, stream, true, true);
}
