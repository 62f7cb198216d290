#include "viewer/model/tree.hpp"

#include "shared/segment/proc_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <unordered_map>

namespace tidemark::viewer {
namespace {

constexpr int kMostAncestors = 1000;  // pids are used again while we climb

// 0: unknown, or none.
std::int64_t parent_pid(std::int64_t pid) {
  std::array<char, 1024> buffer{};
  const std::string_view stat = segment::read_once(fmt::format("/proc/{}/stat", pid).c_str(), buffer);
  // "PID (NAME) STATE PARENT ...", and the name may hold anything.
  const std::size_t end = stat.rfind(") ");
  std::int64_t parent = 0;
  if (end != std::string_view::npos && end + 4 < stat.size()) {
    std::from_chars(stat.data() + end + 4, stat.data() + stat.size(), parent);
  }
  return parent;
}

std::optional<std::size_t> parent_in_same_namespace(const View& view, std::size_t child) {
  const segment::ProcessIdentity& mine = view.processes[child].snapshot.identity;
  std::optional<std::size_t> parent;
  for (std::size_t i = 0; i < view.processes.size(); ++i) {
    const segment::ProcessIdentity& other = view.processes[i].snapshot.identity;
    const bool fits = other.pid == mine.parent_pid && other.pid_namespace == mine.pid_namespace &&
                      other.boot_id == mine.boot_id && other.start_ticks <= mine.start_ticks;
    if (i != child && fits) {
      parent = i;  // the last: after an exec the pid has a past
    }
  }
  return parent;
}

class Tree {
 public:
  explicit Tree(const std::vector<std::optional<std::size_t>>& parents)
      : children_(parents.size()), is_drawn_(parents.size()) {
    for (std::size_t i = 0; i < parents.size(); ++i) {
      (parents[i] && *parents[i] < parents.size() ? children_[*parents[i]] : roots_).push_back(i);
    }
  }

  std::vector<TreeLine> lines() {
    for (const std::size_t root : roots_) {
      add(root, {});
    }
    for (std::size_t i = 0; i < is_drawn_.size(); ++i) {
      add(i, {});  // of a circle
    }
    return std::move(lines_);
  }

 private:
  void add(std::size_t process, const std::vector<bool>& goes_on) {
    if (is_drawn_[process]) {
      return;
    }
    is_drawn_[process] = true;
    lines_.push_back({.process = process, .depth = goes_on.size(), .goes_on = goes_on});
    const std::vector<std::size_t>& children = children_[process];
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::vector<bool> below = goes_on;
      below.push_back(i + 1 < children.size());
      add(children[i], below);
    }
  }

  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> roots_;
  std::vector<bool> is_drawn_;
  std::vector<TreeLine> lines_;
};

}  // namespace

std::vector<std::optional<std::size_t>> parents_of(const View& view) {
  std::unordered_map<std::int64_t, std::size_t> living;
  for (std::size_t i = 0; i < view.processes.size(); ++i) {
    if (view.processes[i].is_alive() && view.processes[i].snapshot.pid > 0) {
      living.emplace(view.processes[i].snapshot.pid, i);
    }
  }
  std::vector<std::optional<std::size_t>> parents(view.processes.size());
  for (std::size_t i = 0; i < view.processes.size(); ++i) {
    const ProcessView& process = view.processes[i];
    if (!process.is_alive() || process.snapshot.pid <= 0) {
      parents[i] = parent_in_same_namespace(view, i);
      continue;
    }
    std::int64_t pid = process.snapshot.pid;
    for (int step = 0; step < kMostAncestors && !parents[i] && (pid = parent_pid(pid)) > 0; ++step) {
      if (const auto found = living.find(pid); found != living.end()) {
        parents[i] = found->second;
      }
    }
  }
  return parents;
}

std::vector<TreeLine> tree_of(const std::vector<std::optional<std::size_t>>& parents) { return Tree{parents}.lines(); }

}  // namespace tidemark::viewer
