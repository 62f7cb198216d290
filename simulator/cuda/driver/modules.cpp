#include "simulator/cuda/driver/modules.hpp"

namespace cuda_sim {

CUmodule Modules::load() {
  std::lock_guard lock{mutex_};
  auto* handle = reinterpret_cast<CUmodule>(++last_handle_);
  modules_[handle];
  return handle;
}

bool Modules::unload(CUmodule module) {
  std::lock_guard lock{mutex_};
  return modules_.erase(module) == 1;
}

CUfunction Modules::kernel(CUmodule module, const std::string& name) {
  std::lock_guard lock{mutex_};
  const auto found = modules_.find(module);
  if (found == modules_.end()) {
    return nullptr;
  }
  CUfunction& kernel = found->second[name];
  if (!kernel) {
    kernel = reinterpret_cast<CUfunction>(++last_handle_);
  }
  return kernel;
}

bool Modules::has(CUmodule module) const {
  std::lock_guard lock{mutex_};
  return modules_.contains(module);
}

bool Modules::has(CUfunction kernel) const {
  std::lock_guard lock{mutex_};
  for (const auto& [module, kernels] : modules_) {
    for (const auto& [name, handle] : kernels) {
      if (handle == kernel) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace cuda_sim
