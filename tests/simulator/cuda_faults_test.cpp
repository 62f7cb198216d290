// Calls of the simulated CUDA driver that are to fail on demand (CUDA_SIM_FAIL in the test's environment).
#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;

class CudaFaults : public cuda_test::Cuda {};

TEST_F(CudaFaults, ComeAsOutOfMemoryFromWhatTakesMemory) {
  CUdeviceptr pointer = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUarray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = 16;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  CUmipmappedArray mipmap = nullptr;

  EXPECT_EQ(cuMemAllocManaged(&pointer, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemCreate(&handle, 2 * cuda_test::kMiB, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAddressReserve(&pointer, 2 * cuda_test::kMiB, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuArray3DCreate(&array, &shape), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMipmappedArrayCreate(&mipmap, &shape, 1), CUDA_ERROR_OUT_OF_MEMORY);

  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuMemAllocManaged(&pointer, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS) << "only the first call was to";
  EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
}

TEST_F(CudaFaults, ComeWithTheCodeThatWasAskedFor) {
  EXPECT_EQ(cuMemRelease(5), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cuMemUnmap(5, 5), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuArrayDestroy(nullptr), CUDA_ERROR_UNKNOWN) << "none was asked for";
  EXPECT_EQ(cuGraphLaunch(nullptr, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
}

}  // namespace
