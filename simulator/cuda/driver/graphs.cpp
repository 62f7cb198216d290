#include "simulator/cuda/driver/graphs.hpp"

#include <algorithm>
#include <utility>

namespace cuda_sim {

CUgraph Graphs::create() {
  std::lock_guard lock{mutex_};
  auto* graph = reinterpret_cast<CUgraph>(++last_handle_);
  graphs_[graph];
  return graph;
}

bool Graphs::has(CUgraph graph) const {
  std::lock_guard lock{mutex_};
  return graphs_.contains(graph);
}

bool Graphs::destroy(CUgraph graph) {
  std::lock_guard lock{mutex_};
  return graphs_.erase(graph) == 1;
}

CUgraphNode Graphs::add(CUgraph graph, GraphNode node, const CUgraphNode* after, std::size_t count) {
  std::lock_guard lock{mutex_};
  const auto found = graphs_.find(graph);
  if (found == graphs_.end() || (count > 0 && !after)) {
    return nullptr;
  }
  std::vector<GraphNode>& nodes = found->second;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::none_of(nodes.begin(), nodes.end(), [&](const GraphNode& one) { return one.handle == after[i]; })) {
      return nullptr;
    }
  }
  node.handle = reinterpret_cast<CUgraphNode>(++last_handle_);
  nodes.push_back(std::move(node));
  return nodes.back().handle;
}

std::optional<std::vector<GraphNode>> Graphs::nodes_of(CUgraph graph) const {
  std::lock_guard lock{mutex_};
  const auto found = graphs_.find(graph);
  return found != graphs_.end() ? std::optional{found->second} : std::nullopt;
}

std::optional<GraphNode> Graphs::find(CUgraphNode node) const {
  std::lock_guard lock{mutex_};
  for (const auto& [graph, nodes] : graphs_) {
    for (const GraphNode& one : nodes) {
      if (one.handle == node) {
        return one;
      }
    }
  }
  return std::nullopt;
}

CUgraphExec Graphs::instantiate(CUgraph graph, bool frees_on_launch) {
  std::lock_guard lock{mutex_};
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) {
    return nullptr;
  }
  auto* executable = reinterpret_cast<CUgraphExec>(++last_handle_);
  executables_[executable] = {found->second, frees_on_launch};
  return executable;
}

std::optional<Graphs::Executable> Graphs::find(CUgraphExec executable) const {
  std::lock_guard lock{mutex_};
  const auto found = executables_.find(executable);
  return found != executables_.end() ? std::optional{found->second} : std::nullopt;
}

bool Graphs::destroy(CUgraphExec executable) {
  std::lock_guard lock{mutex_};
  return executables_.erase(executable) == 1;
}

}  // namespace cuda_sim
