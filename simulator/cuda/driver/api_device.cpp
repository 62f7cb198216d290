// cuInit and devices; their attributes are in device_attributes.cpp.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "simulator/cuda/driver/internal_api.hpp"

#include "simulator/cuda/driver/device_attributes.hpp"
#include "simulator/cuda/identity.hpp"

using namespace cuda_sim;

CUDA_SIM_EXPORT CUresult CUDAAPI cuInit(unsigned int flags) {
  if (flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUresult code = Driver::initialise();
  return code == CUDA_SUCCESS ? with_driver(__func__, [](Call&) { return CUDA_SUCCESS; }) : code;
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetCount(int* count) {
  return with_driver(__func__, [&](Call& call) {
    if (!count) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *count = call.driver.device_count();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  return with_driver(__func__, [&](Call& call) {
    if (!device) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(ordinal)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

namespace {

// `body` gets the machine's index of a valid device.
template <class Body>
CUresult with_device(const char* name, CUdevice device, bool arguments_are_good, Body&& body) {
  return with_driver(name, [&](Call& call) {
    if (!arguments_are_good) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return call.driver.has_device(device) ? body(call, call.driver.machine_index(device)) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult get_uuid(const char* name, CUuuid* uuid, CUdevice device) {
  return with_device(name, device, uuid, [&](Call& call, int index) {
    static_assert(sizeof *uuid == sizeof(sim::DeviceIdentity::uuid));
    std::memcpy(uuid, call.driver.machine.identity(index).uuid.data(), sizeof *uuid);
    return CUDA_SUCCESS;
  });
}

void write_bus_id(char (&text)[16], int index) { std::snprintf(text, sizeof text, "0000:%02X:00.0", pci_bus(index)); }

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  return with_device(__func__, device, name && length > 0, [&](Call& call, int index) {
    std::snprintf(name, static_cast<std::size_t>(length), "%s", call.driver.machine.identity(index).name.c_str());
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return get_uuid(__func__, uuid, device);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return get_uuid(__func__, uuid, device);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return with_device(__func__, device, bytes, [&](Call& call, int index) {
    *bytes = call.driver.machine.memory(index).info().total;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceTotalMem(unsigned int* bytes, CUdevice device) {
  return with_device(__func__, device, bytes, [&](Call& call, int index) {
    const std::uint64_t total = call.driver.machine.memory(index).info().total;
    *bytes = static_cast<unsigned>(std::min<std::uint64_t>(total, UINT32_MAX));  // the ABI has no more
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return with_device(__func__, device, value, [&](Call&, int index) {
    const std::optional<int> found = device_attribute(attribute, index);
    if (!found) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *value = *found;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return with_device(__func__, device, major && minor, [&](Call&, int index) {
    *major = device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, index).value_or(0);
    *minor = device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, index).value_or(0);
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return with_device(__func__, device, text && length > 12, [&](Call&, int index) {
    char id[16];
    write_bus_id(id, index);
    std::snprintf(text, static_cast<std::size_t>(length), "%s", id);
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return with_driver(__func__, [&](Call& call) {
    if (!device || !text) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (CUdevice candidate = 0; candidate < call.driver.device_count(); ++candidate) {
      char id[16];
      write_bus_id(id, call.driver.machine_index(candidate));
      if (std::strcmp(id, text) == 0) {
        *device = candidate;
        return CUDA_SUCCESS;
      }
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return with_driver(__func__, [&](Call& call) {
    if (!can) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(device) || !call.driver.has_device(peer)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *can = device != peer;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                                                         CUdevice destination) {
  return with_driver(__func__, [&](Call& call) {
    if (!value || source == destination) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(source) || !call.driver.has_device(destination)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
  });
}
