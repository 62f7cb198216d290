// An MTIA driver whose synchronise doesn't: loaded between the shim and the real driver, it takes the shim's fence
// away. The shim looks for a driver's functions beside the first one that it found, so whichever that is must be found
// here.
#include <dlfcn.h>
#include <mtia.h>

#define PASSED_ON(name, parameters, arguments)                                           \
  extern "C" __attribute__((visibility("default"))) mtiaResult_t name parameters {       \
    static const auto real = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)); \
    return real arguments;                                                               \
  }

PASSED_ON(mtiaMalloc, (void** ptr, size_t size), (ptr, size))
PASSED_ON(mtiaFree, (void* ptr), (ptr))
PASSED_ON(mtiaMemGetInfo, (size_t * free, size_t* total), (free, total))
PASSED_ON(mtiaGetDevice, (int* device), (device))
PASSED_ON(mtiaSetDevice, (int device), (device))
PASSED_ON(mtiaGetDeviceProperties, (mtiaDeviceProp * properties, int device), (properties, device))

extern "C" __attribute__((visibility("default"))) mtiaResult_t mtiaDeviceSynchronize() { return MTIA_SUCCESS; }
