#include "simulator/cuda/runtime/devices.hpp"

#include <pthread.h>

#include <array>
#include <atomic>

namespace cuda_sim {
namespace {

constexpr int kMostDevices = 64;  // as many as the driver shows

struct Primary {
  CUcontext context = nullptr;  // kept after a reset, to recognise it where a thread still has it current
  bool retained = false;
};

// Not std::mutex: a C program that carries this runtime has no libstdc++ to link.
class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { pthread_mutex_unlock(&mutex_); }

 private:
  static inline constinit pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;  // guards `primaries`
};

constinit std::array<Primary, kMostDevices> primaries{};
constinit std::atomic<bool> driver_initialised{false};
constinit thread_local cudaError_t last_error = cudaSuccess;
constinit thread_local int thread_device = 0;

cudaError_t retain_primary(const DriverApi& driver, int device, CUcontext& context) {
  const Lock lock;
  Primary& primary = primaries[static_cast<std::size_t>(device)];
  if (!primary.retained) {
    if (const CUresult code = call(driver.primary_ctx_retain, &primary.context, device); code != CUDA_SUCCESS) {
      return to_runtime(code);
    }
    primary.retained = true;
  }
  context = primary.context;
  return cudaSuccess;
}

// True for a primary context of this runtime's that has been reset: the thread needs another one.
bool is_given_up(CUcontext context) {
  const Lock lock;
  for (const Primary& primary : primaries) {
    if (primary.context == context) {
      return !primary.retained;
    }
  }
  return false;
}

}  // namespace

cudaError_t record(cudaError_t code) {
  if (code != cudaSuccess) {
    last_error = code;
  }
  return code;
}

const DriverApi* initialised_driver(cudaError_t& why) {
  const DriverApi* driver = driver_api();
  if (!driver) {
    why = cudaErrorInsufficientDriver;
    return nullptr;
  }
  // Once is enough, and in a forked child of a process that did it the driver itself refuses whatever comes next.
  if (!driver_initialised.load(std::memory_order_acquire)) {
    why = to_runtime(call(driver->init, 0U));
    if (why != cudaSuccess) {
      return nullptr;
    }
    driver_initialised.store(true, std::memory_order_release);
  }
  return driver;
}

cudaError_t ensure_context(const DriverApi& driver) {
  CUcontext current = nullptr;
  if (const CUresult code = call(driver.ctx_get_current, &current); code != CUDA_SUCCESS) {
    return to_runtime(code);
  }
  return current && !is_given_up(current) ? cudaSuccess : use_device(driver, thread_device);
}

cudaError_t check_device(const DriverApi& driver, int device) {
  int count = 0;
  if (const CUresult code = call(driver.device_get_count, &count); code != CUDA_SUCCESS) {
    return to_runtime(code);
  }
  return device >= 0 && device < count && device < kMostDevices ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t use_device(const DriverApi& driver, int device) {
  if (const cudaError_t code = check_device(driver, device); code != cudaSuccess) {
    return code;
  }
  CUcontext context = nullptr;
  if (const cudaError_t code = retain_primary(driver, device, context); code != cudaSuccess) {
    return code;
  }
  thread_device = device;
  return to_runtime(call(driver.ctx_set_current, context));
}

cudaError_t current_device(const DriverApi& driver, int& device) {
  CUcontext current = nullptr;
  if (const CUresult code = call(driver.ctx_get_current, &current); code != CUDA_SUCCESS) {
    return to_runtime(code);
  }
  if (current && !is_given_up(current)) {
    return to_runtime(call(driver.ctx_get_device, &device));
  }
  device = thread_device;
  return cudaSuccess;
}

cudaError_t reset_device(const DriverApi& driver, int device) {
  const Lock lock;
  Primary& primary = primaries[static_cast<std::size_t>(device)];
  const CUresult code = call(driver.primary_ctx_reset, device);
  if (code == CUDA_SUCCESS && primary.retained) {
    primary.retained = false;
    return to_runtime(call(driver.primary_ctx_release, device));
  }
  return to_runtime(code);
}

}  // namespace cuda_sim

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetLastError(void) {
  const cudaError_t code = cuda_sim::last_error;
  cuda_sim::last_error = cudaSuccess;
  return code;
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaPeekAtLastError(void) { return cuda_sim::last_error; }
