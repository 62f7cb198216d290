// The few functions and structures of NVIDIA's management library that the viewer calls. Its header comes with the
// driver's development package, which nobody should need to build us: names, members and codes are those of NVIDIA's
// documentation (docs.nvidia.com/deploy/nvml-api: nvmlMemory_t, nvmlMemory_v2_t, nvmlPciInfo_t, nvmlReturn_t), and the
// sizes are checked here against the version words that NVIDIA's own Python bindings use (nvmlMemory_v2 = 0x02000028).
#pragma once

#include <cstdint>

namespace tidemark::viewer::nvml {

struct nvmlDevice_st;
using Device = nvmlDevice_st*;

enum class Code : int { Success = 0 };

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;  // what is reserved for the system is a part of it
};

struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;  // with or without the reserved, by the library's age
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;
static_assert(kMemoryV2 == 0x02000028 && sizeof(Memory) == 24);

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

inline constexpr unsigned kTextBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, NVML_DEVICE_NAME_V2_BUFFER_SIZE

// X(member, function, arguments). A library without one of the first list is of no use; the others only tell less.
#define TIDEMARK_NVML_REQUIRED(X)                                 \
  X(init, nvmlInit_v2, ())                                        \
  X(count, nvmlDeviceGetCount_v2, (unsigned*))                    \
  X(by_index, nvmlDeviceGetHandleByIndex_v2, (unsigned, Device*)) \
  X(uuid, nvmlDeviceGetUUID, (Device, char*, unsigned))
#define TIDEMARK_NVML_OPTIONAL(X)                                   \
  X(name, nvmlDeviceGetName, (Device, char*, unsigned))             \
  X(pci, nvmlDeviceGetPciInfo_v3, (Device, PciInfo*))               \
  X(memory_v2, nvmlDeviceGetMemoryInfo_v2, (Device, MemoryV2*))     \
  X(memory, nvmlDeviceGetMemoryInfo, (Device, Memory*))             \
  X(mig_mode, nvmlDeviceGetMigMode, (Device, unsigned*, unsigned*)) \
  X(mig_count, nvmlDeviceGetMaxMigDeviceCount, (Device, unsigned*)) \
  X(mig_by_index, nvmlDeviceGetMigDeviceHandleByIndex, (Device, unsigned, Device*))

struct Functions {
#define X(member, function, arguments) Code(*member) arguments = nullptr;
  TIDEMARK_NVML_REQUIRED(X)
  TIDEMARK_NVML_OPTIONAL(X)
#undef X
  const char* (*error_string)(Code) = nullptr;
};

}  // namespace tidemark::viewer::nvml
