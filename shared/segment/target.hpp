// Which process a user's word means: a pid (as the looker sees it), an id of 8 hex digits in any case, or a label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark::segment {

struct Nameable {
  std::string_view id;
  std::string_view label;  // empty: none
  std::int64_t pid = 0;
  bool is_alive = false;
};

[[nodiscard]] bool is_named(const Nameable& process, std::string_view target);

// Indices of those that `target` can mean: living ones, if there are any. One is meant where there is one; none, or
// several, is for the caller to say.
[[nodiscard]] std::vector<std::size_t> find_target(std::span<const Nameable> processes, std::string_view target);

}  // namespace tidemark::segment
