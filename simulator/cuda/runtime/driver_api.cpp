#include "simulator/cuda/runtime/driver_api.hpp"

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>

namespace cuda_sim {
namespace {

class Resolver {
 public:
  explicit Resolver(PFN_cuGetProcAddress_v12000 ask) : ask_(ask) {}

  template <class Function>
  void find(Function& function, const char* name, int version, cuuint64_t flags) const {
    void* found = nullptr;
    // An error (a version newer than the driver) is no reason to give up: the driver may have all that is used.
    if (ask_(name, &found, version, flags, nullptr) != CUDA_SUCCESS) {
      found = nullptr;
    }
    std::memcpy(&function, &found, sizeof function);
  }

 private:
  PFN_cuGetProcAddress_v12000 ask_;
};

void find_all(const Resolver& driver, DriverApi& api) {
#define X(member, base, version) driver.find(api.member, #base, version, CU_GET_PROC_ADDRESS_DEFAULT);
  CUDA_SIM_DRIVER_FUNCTIONS(X)
#undef X
  driver.find(api.primary_ctx_reset, "cuDevicePrimaryCtxReset", 7000, CU_GET_PROC_ADDRESS_DEFAULT);
  driver.find(api.primary_ctx_release, "cuDevicePrimaryCtxRelease", 7000, CU_GET_PROC_ADDRESS_DEFAULT);
  // `7000_ptsz`: strtol reads the number in front of the suffix.
#define X(member, base, version, per_thread_version)                                                         \
  driver.find(api.legacy.member, #base, version, CU_GET_PROC_ADDRESS_DEFAULT);                               \
  driver.find(api.per_thread.member, #base, static_cast<int>(std::strtol(#per_thread_version, nullptr, 10)), \
              CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  CUDA_SIM_STREAM_FUNCTIONS(X)
#undef X
}

// The order of the first questions is that of NVIDIA's runtime: a probe, then the resolver's own two ABIs, and from
// there on the pointer that the driver gave for the newer one.
bool load(DriverApi& api) {
  PFN_cuGetProcAddress_v12000 first = find_resolver();
  if (!first) {
    return false;
  }
  const Resolver probe{first};
  void* nothing = nullptr;
  PFN_cuGetProcAddress_v11030 old_resolver = nullptr;
  probe.find(nothing, "", 0, CU_GET_PROC_ADDRESS_DEFAULT);
  probe.find(api.init, "cuInit", 2000, CU_GET_PROC_ADDRESS_DEFAULT);
  probe.find(old_resolver, "cuGetProcAddress", 11030, CU_GET_PROC_ADDRESS_DEFAULT);
  probe.find(api.get_proc_address, "cuGetProcAddress", 12000, CU_GET_PROC_ADDRESS_DEFAULT);
  if (!api.get_proc_address) {
    return false;
  }
  find_all(Resolver{api.get_proc_address}, api);

  int version = 0;
  return call(api.driver_get_version, &version) == CUDA_SUCCESS && version / 1000 >= CUDART_VERSION / 1000;
}

// Not std::call_once: a C program that carries this runtime has no libstdc++ to link.
constinit pthread_once_t once = PTHREAD_ONCE_INIT;
constinit DriverApi the_api;
constinit bool usable = false;

}  // namespace

const DriverApi* driver_api() {
  pthread_once(&once, [] { usable = load(the_api); });
  return usable ? &the_api : nullptr;
}

}  // namespace cuda_sim
