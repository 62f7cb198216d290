// What needs no initialised driver: versions, names, texts.
#include <array>
#include <cstring>

#include "simulator/mtia/driver.hpp"

using sim::mtia::Driver;

namespace {

// Name, and the driver version that brought it.
#define MTIA_FUNCTIONS(X)          \
  X(mtiaInit, 1000)                \
  X(mtiaDriverGetVersion, 1000)    \
  X(mtiaGetDeviceCount, 1000)      \
  X(mtiaSetDevice, 1000)           \
  X(mtiaGetDevice, 1000)           \
  X(mtiaGetDeviceProperties, 1000) \
  X(mtiaDeviceSynchronize, 1000)   \
  X(mtiaDeviceReset, 1000)         \
  X(mtiaMalloc, 1000)              \
  X(mtiaFree, 1000)                \
  X(mtiaMemGetInfo, 1000)          \
  X(mtiaMemGetAddressRange, 1010)  \
  X(mtiaMemcpy, 1000)              \
  X(mtiaMemcpyAsync, 1000)         \
  X(mtiaMemset, 1000)              \
  X(mtiaMemsetAsync, 1000)         \
  X(mtiaStreamCreate, 1000)        \
  X(mtiaStreamDestroy, 1000)       \
  X(mtiaStreamSynchronize, 1000)   \
  X(mtiaStreamQuery, 1000)         \
  X(mtiaLaunchHostFunc, 1010)      \
  X(mtiaEventCreate, 1000)         \
  X(mtiaEventRecord, 1000)         \
  X(mtiaEventQuery, 1000)          \
  X(mtiaEventSynchronize, 1000)    \
  X(mtiaEventDestroy, 1000)        \
  X(mtiaGetProcAddress, 1000)      \
  X(mtiaGetErrorName, 1000)        \
  X(mtiaGetErrorString, 1000)

struct Function {
  const char* name;
  int since;
  void* address;
};

const Function* find_function(const char* name, int version) {
  static const std::array functions{
#define X(name, since) Function{#name, since, reinterpret_cast<void*>(&name)},
      MTIA_FUNCTIONS(X)
#undef X
  };
  for (const Function& function : functions) {
    if (std::strcmp(function.name, name) == 0 && function.since <= version) return &function;
  }
  return nullptr;
}

struct Text {
  mtiaResult_t code;
  const char* name;
  const char* sentence;
};

constexpr std::array kTexts{
    Text{MTIA_SUCCESS, "MTIA_SUCCESS", "no error"},
    Text{MTIA_ERROR_INVALID_VALUE, "MTIA_ERROR_INVALID_VALUE", "invalid argument"},
    Text{MTIA_ERROR_OUT_OF_MEMORY, "MTIA_ERROR_OUT_OF_MEMORY", "out of memory"},
    Text{MTIA_ERROR_NOT_INITIALIZED, "MTIA_ERROR_NOT_INITIALIZED", "driver not initialized"},
    Text{MTIA_ERROR_NO_DEVICE, "MTIA_ERROR_NO_DEVICE", "no MTIA device is available"},
    Text{MTIA_ERROR_INVALID_DEVICE, "MTIA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    Text{MTIA_ERROR_INVALID_HANDLE, "MTIA_ERROR_INVALID_HANDLE", "invalid stream or event"},
    Text{MTIA_ERROR_NOT_READY, "MTIA_ERROR_NOT_READY", "work not finished"},
    Text{MTIA_ERROR_NOT_SUPPORTED, "MTIA_ERROR_NOT_SUPPORTED", "operation not supported"},
    Text{MTIA_ERROR_DEINITIALIZED, "MTIA_ERROR_DEINITIALIZED", "driver shutting down"},
    Text{MTIA_ERROR_UNKNOWN, "MTIA_ERROR_UNKNOWN", "unknown error"},
};

const Text* find_text(mtiaResult_t error) {
  for (const Text& text : kTexts) {
    if (text.code == error) return &text;
  }
  return nullptr;
}

// Traced where there is a driver already, which a look-up doesn't make.
template <class Body>
mtiaResult_t without_driver(const char* name, Body&& body) noexcept {
  Driver* driver = Driver::find();
  if (driver == nullptr) return body();
  sim::CallScope call{driver->gate(), name};
  if (const auto& fault = call.injected()) {
    return call.done(static_cast<mtiaResult_t>(fault->value_or(sim::mtia::kInjected)));
  }
  return call.done(body());
}

}  // namespace

MTIA_EXPORTS_BEGIN

mtiaResult_t mtiaDriverGetVersion(int* version) {
  return without_driver("mtiaDriverGetVersion", [=] {
    if (version == nullptr) return MTIA_ERROR_INVALID_VALUE;
    *version = MTIA_VERSION;
    return MTIA_SUCCESS;
  });
}

mtiaResult_t mtiaGetProcAddress(const char* name, int version, void** fn) {
  return without_driver("mtiaGetProcAddress", [=] {
    if (name == nullptr || fn == nullptr || version > MTIA_VERSION) return MTIA_ERROR_INVALID_VALUE;
    const Function* found = find_function(name, version);
    *fn = found != nullptr ? found->address : nullptr;
    return found != nullptr ? MTIA_SUCCESS : MTIA_ERROR_NOT_SUPPORTED;
  });
}

const char* mtiaGetErrorName(mtiaResult_t error) {
  const Text* text = find_text(error);
  return text != nullptr ? text->name : "unrecognized error code";
}

const char* mtiaGetErrorString(mtiaResult_t error) {
  const Text* text = find_text(error);
  return text != nullptr ? text->sentence : "unrecognized error code";
}

MTIA_EXPORTS_END
