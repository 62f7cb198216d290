#include "viewer/symbols/module_map.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

bool holds(const LoadedModule& module, std::uint64_t address) {
  return address >= module.begin && address < module.end;
}

}  // namespace

const LoadedModule* ModuleMap::find(std::uint64_t address, std::uint64_t time_ns) const {
  const LoadedModule* later = nullptr;
  const LoadedModule* earlier = nullptr;
  for (const LoadedModule& module : modules_) {
    if (!holds(module, address)) {
      continue;
    }
    if (module.listed_ns > time_ns) {
      later = later == nullptr || module.listed_ns < later->listed_ns ? &module : later;
    } else if (module.gone_ns == 0 || module.gone_ns > time_ns) {
      return &module;
    } else {
      earlier = earlier == nullptr || module.gone_ns >= earlier->gone_ns ? &module : earlier;
    }
  }
  return later != nullptr ? later : earlier;
}

void ModuleMap::add_unlisted(const std::vector<LoadedModule>& mapped) {
  const std::size_t listed = modules_.size();
  for (const LoadedModule& module : mapped) {
    const bool known = std::any_of(modules_.begin(), modules_.begin() + static_cast<std::ptrdiff_t>(listed),
                                   [&](const LoadedModule& other) {
                                     return other.gone_ns == 0 && other.begin < module.end && module.begin < other.end;
                                   });
    if (!known) {
      modules_.push_back(module);
    }
  }
}

}  // namespace tidemark::viewer
