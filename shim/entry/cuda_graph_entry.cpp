// What makes a graph ready and starts it. Memory of its nodes comes from the driver at one of these calls, which may
// find none because we hold it.
//
// A call that finds no memory has launched nothing: a graph is started as a whole, and its memory comes first. No other
// error leads to a second call, so that none that an earlier piece of work left behind is taken for one.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/counted.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"

using tidemark::backend::real_cuda;
using tidemark::entry::with_room;

namespace uses = tidemark::entry::uses;

extern "C" {

TIDEMARK_EXPORT CUresult cuGraphInstantiate(CUgraphExec* made, CUgraph graph, CUgraphNode* where, char* log,
                                            size_t size) {
  uses::cuGraphInstantiate.entered();
  return with_room([&] { return real_cuda().cuGraphInstantiate(made, graph, where, log, size); });
}

TIDEMARK_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec* made, CUgraph graph, CUgraphNode* where, char* log,
                                               size_t size) {
  uses::cuGraphInstantiate_v2.entered();
  return with_room([&] { return real_cuda().cuGraphInstantiate_v2(made, graph, where, log, size); });
}

TIDEMARK_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  uses::cuGraphInstantiateWithFlags.entered();
  return with_room([&] { return real_cuda().cuGraphInstantiateWithFlags(made, graph, flags); });
}

TIDEMARK_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* made, CUgraph graph,
                                                      CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  uses::cuGraphInstantiateWithParams.entered();
  return with_room([&] { return real_cuda().cuGraphInstantiateWithParams(made, graph, how); });
}

TIDEMARK_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* made, CUgraph graph,
                                                           CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  uses::cuGraphInstantiateWithParams_ptsz.entered();
  return with_room([&] { return real_cuda().cuGraphInstantiateWithParams_ptsz(made, graph, how); });
}

TIDEMARK_EXPORT CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  uses::cuGraphLaunch.entered();
  return with_room([&] { return real_cuda().cuGraphLaunch(graph, stream); });
}

TIDEMARK_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream) {
  uses::cuGraphLaunch_ptsz.entered();
  return with_room([&] { return real_cuda().cuGraphLaunch_ptsz(graph, stream); });
}

TIDEMARK_EXPORT CUresult cuGraphUpload(CUgraphExec graph, CUstream stream) {
  uses::cuGraphUpload.entered();
  return with_room([&] { return real_cuda().cuGraphUpload(graph, stream); });
}

TIDEMARK_EXPORT CUresult cuGraphUpload_ptsz(CUgraphExec graph, CUstream stream) {
  uses::cuGraphUpload_ptsz.entered();
  return with_room([&] { return real_cuda().cuGraphUpload_ptsz(graph, stream); });
}

}  // extern "C"
