// The installed driver as the source of all entry points; linked into the ordinary runtimes.
#include <dlfcn.h>

#include <cstring>

#include "simulator/cuda/runtime/driver_api.hpp"

namespace cuda_sim {

// One dlsym; whoever wants to stand between runtime and driver has this one place, as with NVIDIA's runtime.
PFN_cuGetProcAddress_v12000 find_resolver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    return nullptr;
  }
  void* symbol = dlsym(library, "cuGetProcAddress_v2");
  PFN_cuGetProcAddress_v12000 resolver = nullptr;
  std::memcpy(&resolver, &symbol, sizeof resolver);
  return resolver;
}

}  // namespace cuda_sim
