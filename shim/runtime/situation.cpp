#include "shim/runtime/situation.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "shim/hook/loaded_object.hpp"
#include "shim/hook/own_object.hpp"

namespace tidemark::runtime {
namespace {

using segment::InnerPool;

// By the beginning of a file's name.
struct KnownObject {
  std::string_view prefix;
  const char* why;
};

constexpr KnownObject kCountOnly[] = {
    {"libsanitizer-collection.so", "compute-sanitizer checks each allocation by itself"},
    {"libcudadebugger.so", "a debugger looks at each allocation by itself"},
    {"libibverbs.so", "a network card may go on using device memory"},
    {"libgdrapi.so", "device memory may be mapped into the host"},
};

// By a part of the path: Python packages are known by their directory.
struct KnownPool {
  std::string_view part;
  InnerPool pool;
};

// In this order: programs that use several have the first as their main one.
constexpr KnownPool kPools[] = {
    {"/libc10_cuda.so", InnerPool::Torch},
    {"/libtensorflow_framework.so", InnerPool::Tensorflow},
    {"/libtensorflow_cc.so", InnerPool::Tensorflow},
    {"/xla_cuda_plugin.so", InnerPool::Xla},
    {"/xla_extension.so", InnerPool::Xla},
    {"/libxla_extension.so", InnerPool::Xla},
    {"/librmm.so", InnerPool::Rmm},
    {"/cupy/_core/", InnerPool::Cupy},
};

std::string_view variable(const char* const* environment, std::string_view name) noexcept {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry{*environment};
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

bool is_turned_off(InnerPool pool, const PoolSwitches& switches) noexcept {
  return (pool == InnerPool::Torch && !switches.has_torch) || (pool == InnerPool::Xla && !switches.has_xla);
}

InnerPool find_pool(const hook::ObjectList& objects, const PoolSwitches& switches) noexcept {
  for (const KnownPool& known : kPools) {
    const bool is_loaded = objects.find([&](const link_map& object) {
      return object.l_name != nullptr && std::string_view{object.l_name}.find(known.part) != std::string_view::npos;
    });
    if (is_loaded && !is_turned_off(known.pool, switches)) {
      return known.pool;
    }
  }
  return InnerPool::None;
}

bool stands_in_front(const link_map& object) noexcept {
  return std::ranges::any_of(std::array{"cudaMalloc", "cuMemAlloc_v2", "mtiaMalloc"},
                             [&](const char* name) { return hook::exported_function(object, name) != nullptr; });
}

void find_count_only(const hook::ObjectList& objects, Situation& found) noexcept {
  for (const KnownObject& known : kCountOnly) {
    (void)objects.find([&](const link_map& object) {
      const std::string_view file{hook::file_name_of(object)};
      if (!file.starts_with(known.prefix)) {
        return false;
      }
      std::snprintf(found.count_only.data(), found.count_only.size(), "%.*s is loaded: %s",
                    static_cast<int>(std::min<std::size_t>(file.size(), 40)), file.data(), known.why);
      return true;
    });
    if (!found.allows_cache()) {
      return;
    }
  }
}

}  // namespace

PoolSwitches read_pool_switches(const char* const* environment) noexcept {
  const std::string_view torch = variable(environment, "PYTORCH_NO_CUDA_MEMORY_CACHING");
  return {.has_torch = torch.empty() || torch == "0",
          .has_xla = variable(environment, "XLA_PYTHON_CLIENT_ALLOCATOR") != "platform"};
}

Situation look_around(const hook::ObjectList& objects, const PoolSwitches& switches) noexcept {
  Situation found;
  find_count_only(objects, found);
  found.inner_pool = find_pool(objects, switches);
  return found;
}

// Which of us comes first the environment decides, and the other's idea of what is allocated has to hold too.
void look_for_interposer(const hook::ObjectList& objects, const char* const* environment, Situation& found) noexcept {
  std::string_view preload = variable(environment, "LD_PRELOAD");
  while (!preload.empty()) {
    const std::string_view path = preload.substr(0, preload.find_first_of(": "));
    preload.remove_prefix(std::min(preload.size(), path.size() + 1));
    const std::string_view file = path.substr(path.rfind('/') + 1);
    const bool is_one = !file.empty() && objects.find([&](const link_map& object) {
      return file == hook::file_name_of(object) && !hook::is_inside_our_object(object.l_ld) && stands_in_front(object);
    });
    if (is_one) {
      std::snprintf(found.count_only.data(), found.count_only.size(), "%.*s stands in front of the driver too",
                    static_cast<int>(std::min<std::size_t>(file.size(), 60)), file.data());
      return;
    }
  }
}

std::uint64_t count_of_loads() noexcept {
  std::uint64_t loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<std::uint64_t*>(data) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

}  // namespace tidemark::runtime
