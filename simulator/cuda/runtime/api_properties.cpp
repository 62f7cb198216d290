// cudaGetDeviceProperties: the attributes of a device as one struct.
#include <cstring>
#include <utility>

#include "simulator/cuda/runtime/devices.hpp"

using namespace cuda_sim;

namespace {

using Properties = cudaDeviceProp;

constexpr std::pair<int Properties::*, CUdevice_attribute> kNumbers[] = {
    {&Properties::regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&Properties::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&Properties::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&Properties::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&Properties::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&Properties::multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {&Properties::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {&Properties::canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {&Properties::maxTexture1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH},
    {&Properties::concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {&Properties::ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {&Properties::pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {&Properties::pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {&Properties::pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {&Properties::tccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
    {&Properties::asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {&Properties::unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {&Properties::memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {&Properties::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {&Properties::maxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {&Properties::streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {&Properties::globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
    {&Properties::localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
    {&Properties::regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&Properties::managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {&Properties::isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
    {&Properties::multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
    {&Properties::pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {&Properties::concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {&Properties::computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
    {&Properties::canUseHostPointerForRegisteredMem, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {&Properties::cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {&Properties::maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&Properties::hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {&Properties::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
};

constexpr std::pair<size_t Properties::*, CUdevice_attribute> kSizes[] = {
    {&Properties::sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {&Properties::memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {&Properties::totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {&Properties::textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {&Properties::texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
    {&Properties::surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
    {&Properties::sharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {&Properties::sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {&Properties::reservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
};

// The attributes of one dimension follow each other.
void read_triple(const DriverApi& driver, int (&values)[3], CUdevice_attribute first, int device) {
  for (int i = 0; i < 3; ++i) {
    (void)call(driver.device_get_attribute, &values[i], static_cast<CUdevice_attribute>(first + i), device);
  }
}

cudaError_t read_properties(const DriverApi& driver, Properties& properties, int device) {
  std::memset(&properties, 0, sizeof properties);
  (void)call(driver.device_get_name, properties.name, static_cast<int>(sizeof properties.name), device);
  static_assert(sizeof(CUuuid) == sizeof properties.uuid);
  CUuuid uuid{};
  (void)call(driver.device_get_uuid, &uuid, device);
  std::memcpy(&properties.uuid, &uuid, sizeof uuid);
  (void)call(driver.device_total_mem, &properties.totalGlobalMem, device);

  for (const auto& [member, attribute] : kNumbers) {
    (void)call(driver.device_get_attribute, &(properties.*member), attribute, device);
  }
  for (const auto& [member, attribute] : kSizes) {
    int value = 0;
    (void)call(driver.device_get_attribute, &value, attribute, device);
    properties.*member = static_cast<size_t>(value);
  }
  read_triple(driver, properties.maxThreadsDim, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device);
  read_triple(driver, properties.maxGridSize, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device);
  return cudaSuccess;
}

}  // namespace

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device) {
  return with_driver([&](const DriverApi& driver) {
    if (!properties) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t code = check_device(driver, device);
    return code == cudaSuccess ? read_properties(driver, *properties, device) : code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaChooseDevice(int* device, const struct cudaDeviceProp* wanted) {
  return with_driver([&](const DriverApi& driver) {
    if (!device || !wanted) {
      return cudaErrorInvalidValue;
    }
    *device = 0;  // the simulated devices are all alike
    return check_device(driver, 0);
  });
}
