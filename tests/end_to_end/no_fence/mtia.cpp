// An MTIA driver whose synchronise doesn't: loaded between the shim and the real driver, it takes the shim's fence
// away. It must be found first for mtiaMalloc too, as the shim looks for its other functions beside that one.
#include <dlfcn.h>
#include <mtia.h>

extern "C" __attribute__((visibility("default"))) mtiaResult_t mtiaMalloc(void** ptr, size_t size) {
  static const auto real = reinterpret_cast<decltype(&mtiaMalloc)>(dlsym(RTLD_NEXT, "mtiaMalloc"));
  return real(ptr, size);
}

extern "C" __attribute__((visibility("default"))) mtiaResult_t mtiaFree(void* ptr) {
  static const auto real = reinterpret_cast<decltype(&mtiaFree)>(dlsym(RTLD_NEXT, "mtiaFree"));
  return real(ptr);
}

extern "C" __attribute__((visibility("default"))) mtiaResult_t mtiaDeviceSynchronize() { return MTIA_SUCCESS; }
