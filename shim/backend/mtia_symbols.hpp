// The functions of the MTIA driver that we stand in front of or call, as the program itself would reach them.
#pragma once

#include "mtia.h"
#include "shim/hook/real_symbol.hpp"

namespace tidemark::backend {

// Exported by us, and found by name through dlsym and mtiaGetProcAddress.
#define TIDEMARK_MTIA_HOOKS(X) \
  X(mtiaDeviceReset)           \
  X(mtiaFree)                  \
  X(mtiaGetProcAddress)        \
  X(mtiaMalloc)                \
  X(mtiaMemGetInfo)

// Only called by us.
#define TIDEMARK_MTIA_HELPERS(X) \
  X(mtiaDeviceSynchronize)       \
  X(mtiaGetDevice)               \
  X(mtiaGetDeviceProperties)     \
  X(mtiaMemsetAsync)             \
  X(mtiaSetDevice)               \
  X(mtiaStreamCreate)            \
  X(mtiaStreamDestroy)           \
  X(mtiaStreamSynchronize)

inline constinit hook::DriverLibrary<mtiaResult_t> mtia_library{"libmtia.so", MTIA_ERROR_NOT_INITIALIZED};

struct RealMtia {
#define X(name) hook::RealSymbolOf<decltype(&::name)> name{#name, mtia_library};
  TIDEMARK_MTIA_HOOKS(X)
  TIDEMARK_MTIA_HELPERS(X)
#undef X
};

inline constinit RealMtia real_mtia_functions;

inline const RealMtia& real_mtia() noexcept { return real_mtia_functions; }

}  // namespace tidemark::backend
