// The exported functions, each under its name in NVIDIA's library.
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "simulator/core/device_identity.hpp"
#include "simulator/cuda/export.hpp"
#include "simulator/cuda/identity.hpp"
#include "simulator/nvml/library.hpp"

using namespace nvml_sim;

namespace {

// Counts the call, injects faults, lets no exception out. `body(library)` answers.
template <class Body>
int with_library(const char* name, Body&& body) noexcept {
  try {
    const std::shared_ptr<Library> library = Library::find();
    if (library == nullptr) return kUninitialized;
    sim::CallScope call{library->gate(), name};
    if (const auto& fault = call.injected()) return call.done(fault->value_or(kUnknown));
    return call.done(static_cast<int>(body(*library)));
  } catch (...) {
    return kUnknown;
  }
}

template <class Body>
int with_device(const char* name, Device device, bool arguments_are_good, Body&& body) noexcept {
  return with_library(name, [&](Library& library) {
    return library.has(device) && arguments_are_good ? body(library) : kInvalidArgument;
  });
}

int initialise(const char* name) {
  try {
    Library::initialise();
  } catch (const std::bad_alloc&) {
    return kUnknown;
  }
  const int code = with_library(name, [](Library&) { return kSuccess; });
  if (code != kSuccess) Library::shut_down();
  return code;
}

Return copy_text(const std::string& text, char* to, unsigned length) {
  if (text.size() >= length) return kInsufficientSize;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

CUDA_SIM_EXPORT int nvmlInit_v2() { return initialise(__func__); }

CUDA_SIM_EXPORT int nvmlInitWithFlags(unsigned) { return initialise(__func__); }

CUDA_SIM_EXPORT int nvmlShutdown() {
  const int code = with_library(__func__, [](Library&) { return kSuccess; });
  if (code == kSuccess) Library::shut_down();
  return code;
}

CUDA_SIM_EXPORT const char* nvmlErrorString(int code) {
  switch (code) {
    case kSuccess:
      return "Success";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    case kVersionMismatch:
      return "Argument Version Mismatch";
    default:
      return "Unknown Error";
  }
}

CUDA_SIM_EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return with_library(__func__, [&](Library&) {
    return version != nullptr ? copy_text("0.0 (simulated)", version, length) : kInvalidArgument;
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  return with_library(__func__, [&](Library& library) {
    if (count == nullptr) return kInvalidArgument;
    *count = library.count();
    return kSuccess;
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return with_library(__func__, [&](Library& library) {
    if (device == nullptr || index >= library.count()) return kInvalidArgument;
    *device = library.device(index);
    return kSuccess;
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetIndex(Device device, unsigned* index) {
  return with_device(__func__, device, index != nullptr, [&](Library&) {
    *index = static_cast<unsigned>(device->index);
    return kSuccess;
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
  return with_device(__func__, device, uuid != nullptr, [&](Library&) {
    return copy_text(sim::uuid_text(cuda_sim::kUuidWord, device->identity), uuid, length);
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetName(Device device, char* name, unsigned length) {
  return with_device(__func__, device, name != nullptr,
                     [&](Library&) { return copy_text(device->identity.name, name, length); });
}

CUDA_SIM_EXPORT int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  return with_device(__func__, device, info != nullptr, [&](Library&) {
    *info = {};
    info->bus = static_cast<unsigned>(cuda_sim::pci_bus(device->index));
    std::snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "0000:%02X:00.0", info->bus);
    std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus);
    return kSuccess;
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return with_device(__func__, device, memory != nullptr, [&](Library& library) {
    MemoryV2 now{};
    const Return code = library.memory_of(device, now);
    if (code == kSuccess) *memory = {.total = now.total, .free = now.free, .used = now.used};
    return code;
  });
}

CUDA_SIM_EXPORT int nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  return with_device(__func__, device, memory != nullptr, [&](Library& library) {
    return memory->version == kMemoryV2 ? library.memory_of(device, *memory) : kVersionMismatch;
  });
}

// NOLINTNEXTLINE(readability-non-const-parameter): as NVIDIA declares it
CUDA_SIM_EXPORT int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  return with_device(__func__, device, current != nullptr && pending != nullptr,
                     [](Library&) { return kNotSupported; });
}
