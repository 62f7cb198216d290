// The driver that is built in as the source of all entry points; linked into the bare runtime.
#include "simulator/cuda/runtime/driver_api.hpp"

namespace cuda_sim {

// The driver's sources are linked into this runtime and hidden in it: no libcuda is looked for, none can be put in
// front.
PFN_cuGetProcAddress_v12000 find_resolver() { return &cuGetProcAddress_v2; }

}  // namespace cuda_sim
