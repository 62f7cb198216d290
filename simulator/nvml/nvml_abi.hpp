// The part of NVIDIA's management library that is simulated: types and codes as its documentation gives them
// (docs.nvidia.com/deploy/nvml-api, structures nvmlMemory_t, nvmlMemory_v2_t, nvmlPciInfo_t, enumeration nvmlReturn_t).
// The library's own header comes with no toolkit package that this project asks for.
#pragma once

namespace nvml_sim {

enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kVersionMismatch = 25,
  kUnknown = 999,
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;  // with what is reserved
};

struct MemoryV2 {
  unsigned version;  // kMemoryV2
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

}  // namespace nvml_sim
