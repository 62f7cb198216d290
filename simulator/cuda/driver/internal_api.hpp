// cuda.h with every function under its true name, old ABIs included: cuMemAlloc is the first ABI here, cuMemAlloc_v2
// the second. To be included before anything that includes cuda.h.
#pragma once

#ifdef __cuda_cuda_h__
#error "internal_api.hpp comes before cuda.h"
#endif
#define __CUDA_API_VERSION_INTERNAL
#include "simulator/cuda/driver/call.hpp"
