#include "shim/nvtx/injection.hpp"

namespace tidemark::nvtx {
namespace {

bool follow(const Callbacks& callbacks, Module module, std::span<const Follower> followers) noexcept {
  FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.module_functions(module, &table, &size) == 0 || table == nullptr) {
    return false;
  }
  for (const Follower& follower : followers) {
    if (follower.place < size && table[follower.place] != nullptr) {
      *table[follower.place] = follower.function;
    }
  }
  return true;
}

}  // namespace

bool follow(ExportTable export_table, std::span<const Follower> core, std::span<const Follower> core2) noexcept {
  const auto* const callbacks =
      export_table == nullptr ? nullptr : static_cast<const Callbacks*>(export_table(kCallbacksTable));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(Callbacks) || callbacks->module_functions == nullptr) {
    return false;
  }
  const auto* const version = static_cast<const VersionInfo*>(export_table(kVersionTable));
  if (version != nullptr && version->struct_size >= sizeof(VersionInfo) && version->set_injection_version != nullptr) {
    version->set_injection_version(kVersion);
  }
  // A program's NVTX is as old as its headers: one module is enough.
  const bool has_core = follow(*callbacks, Module::Core, core);
  const bool has_core2 = follow(*callbacks, Module::Core2, core2);
  return has_core || has_core2;
}

}  // namespace tidemark::nvtx
