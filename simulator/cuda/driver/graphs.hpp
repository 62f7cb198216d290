// Graphs as lists of nodes. Nodes depend on earlier ones alone, so the order in which they were added is one in which
// they can run, and the only one that is simulated: a launch puts them on the stream one after the other. Any thread
// may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "simulator/core/work.hpp"

namespace cuda_sim {

struct GraphNode {
  CUgraphNode handle = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  sim::Work work = sim::Marker{};
  CUdeviceptr memory = 0;  // of allocation and free nodes
  std::size_t size = 0;    // of allocation nodes
};

class Graphs {
 public:
  struct Executable {
    std::vector<GraphNode> nodes{};
    bool frees_on_launch = false;
  };

  CUgraph create();
  [[nodiscard]] bool has(CUgraph graph) const;
  bool destroy(CUgraph graph);  // false: no such graph
  // NULL: no such graph, or `after` names a node that isn't in it. The node's handle is set here.
  CUgraphNode add(CUgraph graph, GraphNode node, const CUgraphNode* after = nullptr, std::size_t count = 0);
  // Nothing: no such graph.
  [[nodiscard]] std::optional<std::vector<GraphNode>> nodes_of(CUgraph graph) const;
  [[nodiscard]] std::optional<GraphNode> find(CUgraphNode node) const;

  // NULL: no such graph.
  CUgraphExec instantiate(CUgraph graph, bool frees_on_launch);
  [[nodiscard]] std::optional<Executable> find(CUgraphExec executable) const;
  bool destroy(CUgraphExec executable);

 private:
  mutable std::mutex mutex_;
  std::map<CUgraph, std::vector<GraphNode>> graphs_;
  std::map<CUgraphExec, Executable> executables_;
  std::uintptr_t last_handle_ = 0x5D70'0000'0000'0000;  // no address, and unlike a stream's handle
};

}  // namespace cuda_sim
