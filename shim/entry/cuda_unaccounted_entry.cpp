// The CUDA driver's ways to memory that nothing accounts for: graphs' own memory, multicast objects, sparse arrays, and
// private functions behind tables. The calls are the driver's; how many succeeded is all that is kept.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"

using tidemark::backend::real_cuda;
using tidemark::hook::SymbolUses;

namespace uses = tidemark::entry::uses;

namespace {

// The driver's call was made before, outside: a cancellation of the thread inside it goes its way as without us.
CUresult unaccounted(SymbolUses& uses, CUresult code) noexcept {
  if (code == CUDA_SUCCESS) {
    uses.count_unaccounted();
  }
  return code;
}

// Nodes of all kinds come this way.
CUresult unaccounted_if_memory(SymbolUses& uses, CUresult code, const CUgraphNodeParams* node) noexcept {
  return node != nullptr && (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
             ? unaccounted(uses, code)
             : code;
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* what) {
  uses::cuGraphAddMemAllocNode.entered();
  return unaccounted(uses::cuGraphAddMemAllocNode, real_cuda().cuGraphAddMemAllocNode(node, graph, after, count, what));
}

TIDEMARK_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                               CUdeviceptr ptr) {
  uses::cuGraphAddMemFreeNode.entered();
  return unaccounted(uses::cuGraphAddMemFreeNode, real_cuda().cuGraphAddMemFreeNode(node, graph, after, count, ptr));
}

TIDEMARK_EXPORT CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                        CUgraphNodeParams* what) {
  uses::cuGraphAddNode.entered();
  return unaccounted_if_memory(uses::cuGraphAddNode, real_cuda().cuGraphAddNode(node, graph, after, count, what), what);
}

TIDEMARK_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* what) {
  uses::cuGraphAddNode_v2.entered();
  return unaccounted_if_memory(uses::cuGraphAddNode_v2,
                               real_cuda().cuGraphAddNode_v2(node, graph, after, edges, count, what), what);
}

TIDEMARK_EXPORT CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle, const CUmulticastObjectProp* what) {
  uses::cuMulticastCreate.entered();
  return unaccounted(uses::cuMulticastCreate, real_cuda().cuMulticastCreate(handle, what));
}

TIDEMARK_EXPORT CUresult cuMemMapArrayAsync(CUarrayMapInfo* maps, unsigned count, CUstream stream) {
  uses::cuMemMapArrayAsync.entered();
  return unaccounted(uses::cuMemMapArrayAsync, real_cuda().cuMemMapArrayAsync(maps, count, stream));
}

TIDEMARK_EXPORT CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo* maps, unsigned count, CUstream stream) {
  uses::cuMemMapArrayAsync_ptsz.entered();
  return unaccounted(uses::cuMemMapArrayAsync_ptsz, real_cuda().cuMemMapArrayAsync_ptsz(maps, count, stream));
}

TIDEMARK_EXPORT CUresult cuGetExportTable(const void** table, const CUuuid* which) {
  uses::cuGetExportTable.entered();
  return unaccounted(uses::cuGetExportTable, real_cuda().cuGetExportTable(table, which));
}

}  // extern "C"
