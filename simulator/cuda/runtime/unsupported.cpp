// Every function that libcudart exports and this runtime doesn't simulate answers not-supported. The stubs are weak, so
// a definition elsewhere wins; they need no prototype, as their arguments are never looked at.
#include "simulator/cuda/runtime/call.hpp"

namespace {

int not_supported() { return static_cast<int>(cuda_sim::record(cudaErrorNotSupported)); }

}  // namespace

// Under other names, as the toolkit's header has declared these with their true types.
#define X(name)                                                                    \
  CUDA_SIM_EXPORT int cuda_sim_stub_##name() __asm__(#name) __attribute__((weak)); \
  int cuda_sim_stub_##name() { return not_supported(); }
#include <runtime_stubs.inc>
#undef X
