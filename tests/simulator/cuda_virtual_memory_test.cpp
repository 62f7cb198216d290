// Virtual memory management of the simulated CUDA driver.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;
using Handle = CUmemGenericAllocationHandle;

constexpr std::size_t kUnit = 2 * kMiB;

class CudaVirtualMemory : public cuda_test::Cuda {
 protected:
  static CUmemAllocationProp on(CUmemLocationType type, int id, bool shareable = false) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {type, id};
    if (shareable) properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
  }
  static Handle create(std::size_t size, bool shareable = false, int device = 0) {
    const CUmemAllocationProp properties = on(CU_MEM_LOCATION_TYPE_DEVICE, device, shareable);
    Handle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, size, &properties, 0), CUDA_SUCCESS);
    return handle;
  }
  static CUdeviceptr reserve(std::size_t size) {
    CUdeviceptr range = 0;
    EXPECT_EQ(cuMemAddressReserve(&range, size, 0, 0, 0), CUDA_SUCCESS);
    return range;
  }
  static CUresult let(CUdeviceptr at, std::size_t size, int device,
                      CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc wanted{{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cuMemSetAccess(at, size, &wanted, 1);
  }
  // Reserved, mapped and accessible; the handle is released at once.
  static CUdeviceptr mapped(std::size_t size) {
    const Handle handle = create(size);
    const CUdeviceptr at = reserve(size);
    EXPECT_EQ(cuMemMap(at, size, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    EXPECT_EQ(let(at, size, 0), CUDA_SUCCESS);
    return at;
  }
  static void end(CUdeviceptr at, std::size_t size) {
    EXPECT_EQ(cuMemUnmap(at, size), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(at, size), CUDA_SUCCESS);
  }
};

TEST_F(CudaVirtualMemory, ComesInUnitsOf2MiB) {
  CUmemAllocationProp properties = on(CU_MEM_LOCATION_TYPE_DEVICE, 0);
  std::size_t unit = 0;
  Handle handle = 5;
  CUdeviceptr range = 5;

  EXPECT_EQ(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  EXPECT_EQ(unit, kUnit);
  EXPECT_EQ(cuMemCreate(&handle, kUnit + 512, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, 0, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, kUnit, &properties, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, kCapacity + kUnit, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  properties.location.id = 9;
  EXPECT_EQ(cuMemCreate(&handle, kUnit, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemAddressReserve(&range, kUnit, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&range, kUnit + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(handle, 5u);
  EXPECT_EQ(range, 5u);
}

TEST_F(CudaVirtualMemory, TakesCapacityUntilTheLastHandleAndMappingAreGone) {
  const CUdeviceptr range = reserve(2 * kUnit);
  EXPECT_EQ(free_bytes(), kCapacity) << "addresses cost nothing";
  const Handle handle = create(kUnit);
  EXPECT_EQ(free_bytes(), kCapacity - kUnit);
  EXPECT_EQ(cuMemMap(range, kUnit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(range + kUnit, kUnit, 0, handle, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(range, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity - kUnit);
  EXPECT_EQ(cuMemMap(range, kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "nobody holds the handle";
  Handle again = 0;
  EXPECT_EQ(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range + kUnit + 5)), CUDA_SUCCESS);
  EXPECT_EQ(again, handle);
  EXPECT_EQ(cuMemUnmap(range + kUnit, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity - kUnit);
  EXPECT_EQ(cuMemRelease(again), CUDA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuMemAddressFree(range, 2 * kUnit), CUDA_SUCCESS);
}

TEST_F(CudaVirtualMemory, IsReachedOnlyWithAccess) {
  const Handle handle = create(kUnit);
  const CUdeviceptr at = reserve(kUnit);
  unsigned char byte = 0;
  EXPECT_EQ(cuMemsetD8(at, 1, kUnit), CUDA_ERROR_INVALID_VALUE) << "not mapped";
  EXPECT_EQ(cuMemMap(at, kUnit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(at, 1, kUnit), CUDA_ERROR_INVALID_VALUE) << "no access";
  EXPECT_EQ(cuMemcpyDtoH(&byte, at, 1), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(let(at, kUnit, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(at, 7, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(at + kUnit - 1), 7);
  EXPECT_EQ(cuMemcpyDtoH(&byte, at + kUnit, 1), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(let(at, kUnit, 0, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(at), 7);
  EXPECT_EQ(cuMemsetD8(at, 1, 1), CUDA_ERROR_INVALID_VALUE) << "read only";
  unsigned long long flags = 9;
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUmemLocation there{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  EXPECT_EQ(cuMemGetAccess(&flags, &here, at), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_MEM_ACCESS_FLAGS_PROT_READ});
  EXPECT_EQ(cuMemGetAccess(&flags, &there, at), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_DEATH(std::memset(reinterpret_cast<void*>(at), 1, 1), "");

  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  end(at, kUnit);
}

TEST_F(CudaVirtualMemory, IsOneRangeToCopiesWhereMappingsAdjoin) {
  const CUdeviceptr range = reserve(4 * kUnit);
  for (int i = 0; i < 2; ++i) {
    const Handle handle = create(kUnit);
    EXPECT_EQ(cuMemMap(range + static_cast<unsigned>(i) * kUnit, kUnit, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  }
  EXPECT_EQ(let(range, 2 * kUnit, 0), CUDA_SUCCESS);
  const CUdeviceptr block = take(2 * kUnit);

  EXPECT_EQ(cuMemsetD8(range, 3, 2 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(block, range, 2 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(block + 2 * kUnit - 1), 3);
  EXPECT_EQ(cuMemsetD8(range, 3, 2 * kUnit + 1), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(cuMemUnmap(range, 2 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, 4 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(CudaVirtualMemory, ShowsOneMemoryAtTwoAddresses) {
  const Handle handle = create(kUnit);
  const CUdeviceptr range = reserve(2 * kUnit);
  EXPECT_EQ(cuMemMap(range, kUnit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(range + kUnit, kUnit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(let(range, 2 * kUnit, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuMemsetD8(range, 9, 16), CUDA_SUCCESS);

  EXPECT_EQ(byte_of(range + kUnit + 15), 9);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  end(range, 2 * kUnit);
}

TEST_F(CudaVirtualMemory, RefusesOverlapsHolesAndParts) {
  const Handle handle = create(2 * kUnit);
  const CUdeviceptr range = reserve(4 * kUnit);
  EXPECT_EQ(cuMemMap(range + kUnit, 2 * kUnit, 0, handle, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuMemMap(range, 2 * kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(range + 2 * kUnit, 2 * kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(range + 4 * kUnit, kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "not reserved";
  EXPECT_EQ(cuMemMap(range, kUnit, kUnit, handle, 0), CUDA_ERROR_INVALID_VALUE) << "an offset";
  EXPECT_EQ(cuMemMap(range + 512, kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(take(kUnit), kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(range + kUnit, kUnit), CUDA_ERROR_INVALID_VALUE) << "a part";
  EXPECT_EQ(cuMemUnmap(range, 3 * kUnit), CUDA_ERROR_INVALID_VALUE) << "a hole";
  EXPECT_EQ(let(range, 3 * kUnit, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(let(range + kUnit, 2 * kUnit, 5), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemAddressFree(range, 4 * kUnit), CUDA_ERROR_INVALID_VALUE) << "in use";
  EXPECT_EQ(cuMemUnmap(range + kUnit, 2 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, 2 * kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(range, 4 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, 4 * kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST_F(CudaVirtualMemory, IsNoOrdinaryMemory) {
  const CUdeviceptr at = mapped(2 * kUnit);
  CUipcMemHandle ipc{};
  CUcontext owner = nullptr;
  CUdeviceptr base = 0;
  std::size_t size = 0;
  unsigned type = 0;
  Handle handle = 0;

  EXPECT_EQ(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(at, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuIpcGetMemHandle(&ipc, at), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, at), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, at + 9), CUDA_SUCCESS);
  EXPECT_EQ(base, at);
  EXPECT_EQ(size, 2 * kUnit);
  EXPECT_EQ(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(take(512))), CUDA_ERROR_INVALID_VALUE);
  end(at, 2 * kUnit);
}

TEST_F(CudaVirtualMemory, OutlivesTheContext) {
  const CUcontext second = cuda_test::create_context(0);
  const CUdeviceptr at = mapped(kUnit);
  EXPECT_EQ(cuMemsetD8(at, 4, kUnit), CUDA_SUCCESS);

  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);

  EXPECT_EQ(byte_of(at), 4);
  end(at, kUnit);
}

TEST_F(CudaVirtualMemory, FindsOutWorkThatComesAfterTheUnmapping) {
  const CUdeviceptr at = mapped(kUnit);
  EXPECT_EQ(cuMemsetD8Async(at, 4, kUnit, stream()), CUDA_SUCCESS);

  end(at, kUnit);

  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

#if CUDA_VERSION >= 12020
TEST_F(CudaVirtualMemory, MayBeTheHosts) {
  const CUmemAllocationProp properties = on(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);
  Handle handle = 0;
  EXPECT_EQ(cuMemCreate(&handle, kUnit, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
  const CUdeviceptr at = reserve(kUnit);
  EXPECT_EQ(cuMemMap(at, kUnit, 0, handle, 0), CUDA_SUCCESS);
  const CUmemAccessDesc both[] = {{{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                  {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  EXPECT_EQ(cuMemSetAccess(at, kUnit, both, 2), CUDA_SUCCESS);
  auto* bytes = reinterpret_cast<unsigned char*>(at);

  bytes[3] = 6;
  EXPECT_EQ(byte_of(at + 3), 6);
  EXPECT_EQ(cuMemsetD8(at, 8, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(bytes[kUnit - 1], 8);

  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  const CUdeviceptr device = mapped(kUnit);
  EXPECT_EQ(cuMemSetAccess(device, kUnit, both, 1), CUDA_ERROR_INVALID_VALUE) << "only to its own";
  end(device, kUnit);
  end(at, kUnit);
}
#endif

TEST_F(CudaVirtualMemory, GoesByDescriptor) {
  const Handle handle = create(kUnit, true, 1);
  int fd = -1;
  Handle imported = 0;
  CUmemAllocationProp properties{};

  EXPECT_EQ(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  auto* const as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
  EXPECT_EQ(cuMemImportFromShareableHandle(&imported, as_pointer, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  EXPECT_EQ(imported, handle);
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&properties, imported), CUDA_SUCCESS);
  EXPECT_EQ(properties.location.id, 1);
  EXPECT_EQ(properties.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(imported), CUDA_ERROR_INVALID_VALUE);

  // As in another process: the memory behind the descriptor is nobody's here.
  EXPECT_EQ(cuMemImportFromShareableHandle(&imported, as_pointer, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  EXPECT_NE(imported, handle);
  EXPECT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
  EXPECT_EQ(close(fd), 0);
}

TEST_F(CudaVirtualMemory, GoesByNoOtherDescriptor) {
  const Handle handle = create(kUnit);
  Handle imported = 0;
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

  EXPECT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(close(fd), 0);
  EXPECT_EQ(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
            CUDA_ERROR_INVALID_VALUE)
      << "not asked for when it was made";
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

}  // namespace
