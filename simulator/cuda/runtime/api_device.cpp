// Devices, their selection and their attributes.
#include <cstring>

#include "simulator/cuda/runtime/devices.hpp"

using namespace cuda_sim;

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) {
  if (!version) {
    return record(cudaErrorInvalidValue);
  }
  // Needs no device and initialises nothing; 0 without a driver.
  *version = 0;
  const DriverApi* driver = driver_api();
  return driver ? record(to_runtime(call(driver->driver_get_version, version))) : cudaSuccess;
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
  if (!version) {
    return record(cudaErrorInvalidValue);
  }
  *version = CUDART_VERSION;
  return cudaSuccess;
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  if (count) {
    *count = 0;  // what programs read when they ignore the error of a machine without a device
  }
  return with_driver([&](const DriverApi& driver) { return call(driver.device_get_count, count); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaSetDevice(int device) {
  return with_driver([&](const DriverApi& driver) { return use_device(driver, device); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  return with_driver([&](const DriverApi& driver) {
    if (flags & ~static_cast<unsigned>(cudaInitDeviceFlagsAreValid)) {
      return cudaErrorInvalidValue;
    }
    if (flags & cudaInitDeviceFlagsAreValid) {
      if (const CUresult code = call(driver.primary_ctx_set_flags, device, device_flags); code != CUDA_SUCCESS) {
        return to_runtime(code);
      }
    }
    return use_device(driver, device);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  return with_driver(
      [&](const DriverApi& driver) { return device ? current_device(driver, *device) : cudaErrorInvalidValue; });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags) {
  return with_driver([&](const DriverApi& driver) {
    int device = 0;
    const cudaError_t code = current_device(driver, device);
    return code == cudaSuccess ? to_runtime(call(driver.primary_ctx_set_flags, device, flags)) : code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int* flags) {
  return with_driver([&](const DriverApi& driver) {
    int device = 0;
    int active = 0;
    const cudaError_t code = current_device(driver, device);
    return code == cudaSuccess ? to_runtime(call(driver.primary_ctx_get_state, device, flags, &active)) : code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceReset(void) {
  return with_driver([](const DriverApi& driver) {
    int device = 0;
    const cudaError_t code = current_device(driver, device);
    return code == cudaSuccess ? reset_device(driver, device) : code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceSynchronize(void) {
  return with_context([](const DriverApi& driver) { return call(driver.ctx_synchronize); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device) {
  // Both enums number the attributes alike.
  return with_driver([&](const DriverApi& driver) {
    return call(driver.device_get_attribute, value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.ctx_get_limit, value, static_cast<CUlimit>(limit)); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.ctx_set_limit, static_cast<CUlimit>(limit), value); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.ctx_get_stream_priority_range, least, greatest); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return with_driver([&](const DriverApi& driver) { return call(driver.device_get_pci_bus_id, text, length, device); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return with_driver([&](const DriverApi& driver) { return call(driver.device_get_by_pci_bus_id, device, text); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return with_driver([&](const DriverApi& driver) { return call(driver.device_can_access_peer, can, device, peer); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attribute,
                                                                int source, int destination) {
  return with_driver([&](const DriverApi& driver) {
    return call(driver.device_get_p2p_attribute, value, static_cast<CUdevice_P2PAttribute>(attribute), source,
                destination);
  });
}

namespace {

// Runs `body` with the peer's primary context, as peer access is a matter of contexts in the driver.
template <class Body>
cudaError_t with_peer(int peer, Body&& body) {
  return with_context([&](const DriverApi& driver) {
    int device = 0;
    cudaError_t code = current_device(driver, device);
    CUcontext mine = nullptr;
    if (code == cudaSuccess) {
      code = to_runtime(call(driver.ctx_get_current, &mine));
    }
    CUcontext theirs = nullptr;
    if (code == cudaSuccess) {
      code = use_device(driver, peer);
    }
    if (code == cudaSuccess) {
      code = to_runtime(call(driver.ctx_get_current, &theirs));
    }
    if (mine) {
      use_device(driver, device);
      (void)call(driver.ctx_set_current, mine);
    }
    return code == cudaSuccess ? to_runtime(body(driver, theirs)) : code;
  });
}

}  // namespace

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return with_peer(peer, [&](const DriverApi& driver, CUcontext context) {
    return call(driver.ctx_enable_peer_access, context, flags);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer) {
  return with_peer(
      peer, [&](const DriverApi& driver, CUcontext context) { return call(driver.ctx_disable_peer_access, context); });
}
