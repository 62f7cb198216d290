// Which process was started by which.
#pragma once

#include "viewer/model/view.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

// For each process of `view` the nearest one above it there, by what the kernel says now; of dead ones by what they
// said themselves. Processes between the two that are not in the view are passed over.
[[nodiscard]] std::vector<std::optional<std::size_t>> parents_of(const View& view);

struct TreeLine {
  std::size_t process = 0;  // its index in view.processes
  std::size_t depth = 0;
  std::vector<bool> goes_on;  // at each level above, and its own: do siblings follow?
};

// Each process behind its parent, siblings in their order. Pure; a circle of parents is cut.
[[nodiscard]] std::vector<TreeLine> tree_of(const std::vector<std::optional<std::size_t>>& parents);

}  // namespace tidemark::viewer
