// Marks a function of the driver's or the runtime's API: visible in the shared libraries, while a static runtime keeps
// its functions to the program that carries it.
#pragma once

#ifdef CUDA_SIM_STATIC
#define CUDA_SIM_EXPORT extern "C"
#else
#define CUDA_SIM_EXPORT extern "C" __attribute__((visibility("default")))
#endif
