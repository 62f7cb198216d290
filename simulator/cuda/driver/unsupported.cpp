// Every function that the toolkit's headers name and this driver doesn't simulate answers not-supported. The stubs are
// weak, so a definition elsewhere wins; they need no prototype, as their arguments are never looked at.
#include "simulator/cuda/driver/call.hpp"

namespace {

int not_supported(const char* name) {
  return static_cast<int>(cuda_sim::with_driver(name, [](cuda_sim::Call&) { return CUDA_ERROR_NOT_SUPPORTED; }));
}

}  // namespace

// Under other names, as cuda.h has declared these with their true types.
#define X(symbol)                                                                      \
  CUDA_SIM_EXPORT int cuda_sim_stub_##symbol() __asm__(#symbol) __attribute__((weak)); \
  int cuda_sim_stub_##symbol() { return not_supported(#symbol); }
#include <driver_stubs.inc>
#undef X
