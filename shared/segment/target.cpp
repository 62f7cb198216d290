#include "shared/segment/target.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace tidemark::segment {
namespace {

bool is_same_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

bool is_named(const Nameable& process, std::string_view target) {
  return target == std::to_string(process.pid) || is_same_in_any_case(target, process.id) ||
         (!process.label.empty() && target == process.label);
}

std::vector<std::size_t> find_target(std::span<const Nameable> processes, std::string_view target) {
  std::vector<std::size_t> alive;
  std::vector<std::size_t> dead;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (is_named(processes[i], target)) {
      (processes[i].is_alive ? alive : dead).push_back(i);
    }
  }
  return alive.empty() ? dead : alive;
}

}  // namespace tidemark::segment
