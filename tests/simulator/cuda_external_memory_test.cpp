// Memory of other interfaces in the simulated CUDA driver.
#include <fcntl.h>
#include <unistd.h>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;

class CudaExternalMemory : public cuda_test::Cuda {
 protected:
  static CUresult import(int fd, std::size_t size, CUexternalMemory& out) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC what{};
    what.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    what.handle.fd = fd;
    what.size = size;
    return cuImportExternalMemory(&out, &what);
  }
  static CUresult map(CUexternalMemory memory, std::size_t offset, std::size_t size, CUdeviceptr& out) {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC what{};
    what.offset = offset;
    what.size = size;
    return cuExternalMemoryGetMappedBuffer(&out, memory, &what);
  }
};

TEST_F(CudaExternalMemory, IsWhatAnExportedHandleStandsFor) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle handle = 0;
  int fd = -1;
  EXPECT_EQ(cuMemCreate(&handle, 2 * kMiB, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  CUexternalMemory memory = nullptr;
  CUdeviceptr whole = 0;
  CUdeviceptr half = 0;

  EXPECT_EQ(import(fd, 2 * kMiB, memory), CUDA_SUCCESS);
  EXPECT_EQ(map(memory, 0, 2 * kMiB, whole), CUDA_SUCCESS);
  EXPECT_EQ(map(memory, kMiB, kMiB, half), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(whole, 5, 2 * kMiB), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(half + kMiB - 1), 5);
  EXPECT_EQ(free_bytes(), kCapacity - 2 * kMiB) << "of the handle alone";

  EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(whole), 5) << "what is mapped stays";
  EXPECT_EQ(cuMemFree(half + 512), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(half), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(half), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(whole), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST_F(CudaExternalMemory, TakesAnyDescriptorAndKeepsIt) {
  CUexternalMemory memory = nullptr;
  CUdeviceptr buffer = 0;
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

  EXPECT_EQ(import(fd, kMiB, memory), CUDA_SUCCESS);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1) << "it is the driver's now";
  EXPECT_EQ(map(memory, 0, kMiB, buffer), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(buffer, 3, kMiB), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(buffer), 3);
  EXPECT_EQ(cuMemFree(buffer), CUDA_SUCCESS);
  EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaExternalMemory, RefusesWhatMakesNoSense) {
  CUexternalMemory memory = nullptr;
  CUdeviceptr buffer = 0;
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC other{};
  other.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP;
  other.size = 512;

  EXPECT_EQ(import(-1, 512, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuImportExternalMemory(&memory, &other), CUDA_ERROR_NOT_SUPPORTED);
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(import(fd, 0, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(import(fd, 4096, memory), CUDA_SUCCESS);
  EXPECT_EQ(map(memory, 4096, 1, buffer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(memory, 0, 4097, buffer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(nullptr, 0, 1, buffer), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_SUCCESS);
}

TEST_F(CudaExternalMemory, EndsWithItsContext) {
  const CUcontext second = cuda_test::create_context(0);
  CUexternalMemory memory = nullptr;
  CUdeviceptr buffer = 0;
  EXPECT_EQ(import(open("/dev/null", O_RDWR | O_CLOEXEC), 4096, memory), CUDA_SUCCESS);
  EXPECT_EQ(map(memory, 0, 4096, buffer), CUDA_SUCCESS);

  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);

  EXPECT_EQ(cuMemFree(buffer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
