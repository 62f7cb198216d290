#include "client/torch_mtia/mtia_calls.hpp"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <cstdio>

#include "client/include/tidemark/tidemark.h"

namespace tidemark::torch_mtia {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kDefaultKind = 4;

template <class Function>
Function driver_function(const char* name) {
  void* const library = dlopen("libmtia.so.1", RTLD_LAZY | RTLD_GLOBAL);
  auto function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  TORCH_CHECK(function != nullptr, "no MTIA driver: libmtia.so.1 with ", name,
              " is not found; LD_LIBRARY_PATH says where it is looked for");
  return function;
}

void check_driver(const char* name, int code) { TORCH_CHECK(code == 0, name, " failed with code ", code); }

}  // namespace

c10::DeviceIndex current_device() { return static_cast<c10::DeviceIndex>(tidemark_current_device("mtia")); }

c10::DeviceIndex device_count() {
  const int count = tidemark_device_count("mtia");
  return static_cast<c10::DeviceIndex>(count < 0 ? 0 : count);
}

void set_device(c10::DeviceIndex device) { check(tidemark_set_device("mtia", device)); }

void* allocate(std::size_t bytes) {
  static const auto function = driver_function<int (*)(void**, std::size_t)>("mtiaMalloc");
  void* memory = nullptr;
  const int code = bytes == 0 ? 0 : function(&memory, bytes);
  TORCH_CHECK_WITH(OutOfMemoryError, code != kOutOfMemory, "MTIA out of memory: ", bytes,
                   " bytes refused on mtia:", static_cast<int>(current_device()));
  check_driver("mtiaMalloc", code);
  return memory;
}

void release(void* memory) noexcept {
  static const auto function = driver_function<int (*)(void*)>("mtiaFree");
  if (memory != nullptr) {
    (void)function(memory);
  }
}

void copy(void* to, const void* from, std::size_t bytes) {
  static const auto function = driver_function<int (*)(void*, const void*, std::size_t, int)>("mtiaMemcpy");
  check_driver("mtiaMemcpy", bytes == 0 ? 0 : function(to, from, bytes, kDefaultKind));
}

void fill(void* memory, int value, std::size_t bytes) {
  static const auto function = driver_function<int (*)(void*, int, std::size_t)>("mtiaMemset");
  check_driver("mtiaMemset", bytes == 0 ? 0 : function(memory, value, bytes));
}

void synchronize(c10::DeviceIndex device) {
  static const auto function = driver_function<int (*)()>("mtiaDeviceSynchronize");
  const c10::DeviceIndex outer = current_device();
  set_device(device);
  const int code = function();
  set_device(outer);
  check_driver("mtiaDeviceSynchronize", code);
}

DeviceName::DeviceName(c10::DeviceIndex device) {
  std::snprintf(text, sizeof text, "mtia:%d", static_cast<int>(device < 0 ? current_device() : device));
}

void check(std::int64_t code) { TORCH_CHECK(code > -1000, tidemark_error_detail()); }

}  // namespace tidemark::torch_mtia
