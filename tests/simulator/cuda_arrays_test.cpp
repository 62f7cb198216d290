// Arrays, mipmapped arrays and copies of three dimensions of the simulated CUDA driver.
#include <array>
#include <numeric>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;

constexpr std::size_t kKiB64 = 64 << 10;

class CudaArrays : public cuda_test::Cuda {
 protected:
  static CUDA_ARRAY3D_DESCRIPTOR shape(std::size_t width, std::size_t height, std::size_t depth = 0,
                                       CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8, unsigned channels = 1) {
    CUDA_ARRAY3D_DESCRIPTOR what{};
    what.Width = width;
    what.Height = height;
    what.Depth = depth;
    what.Format = format;
    what.NumChannels = channels;
    return what;
  }
  static CUarray create(const CUDA_ARRAY3D_DESCRIPTOR& what) {
    CUarray array = nullptr;
    EXPECT_EQ(cuArray3DCreate(&array, &what), CUDA_SUCCESS);
    return array;
  }
  static CUDA_MEMCPY2D rows(std::size_t width, std::size_t height) {
    CUDA_MEMCPY2D copy{};
    copy.WidthInBytes = width;
    copy.Height = height;
    return copy;
  }
  static std::vector<unsigned char> counted(std::size_t size) {
    std::vector<unsigned char> bytes(size);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
    return bytes;
  }
};

TEST_F(CudaArrays, TakePaddedMemory) {
  const CUarray small = create(shape(100, 100));
  EXPECT_EQ(free_bytes(), kCapacity - kKiB64);
  const CUarray large = create(shape(1000, 1000, 0, CU_AD_FORMAT_FLOAT, 4));
  EXPECT_EQ(free_bytes(), kCapacity - kKiB64 - (16000 * 1000 + kKiB64 - 1) / kKiB64 * kKiB64);

  EXPECT_EQ(cuArrayDestroy(small), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(large), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuArrayDestroy(large), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaArrays, RefuseShapesThatMakeNoSense) {
  CUarray array = nullptr;
  for (const CUDA_ARRAY3D_DESCRIPTOR& what : {shape(0, 4), shape(4, 0, 4), shape(4, 4, 0, CU_AD_FORMAT_FLOAT, 3),
                                              shape(4, 4, 0, static_cast<CUarray_format>(7)), shape(1 << 20, 1)}) {
    EXPECT_EQ(cuArray3DCreate(&array, &what), CUDA_ERROR_INVALID_VALUE);
  }
  const CUDA_ARRAY3D_DESCRIPTOR huge = shape(100000, 60000, 100, CU_AD_FORMAT_FLOAT, 4);
  EXPECT_EQ(cuArray3DCreate(&array, &huge), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuArray3DCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(array, nullptr);
}

TEST_F(CudaArrays, TellTheirShape) {
  CUDA_ARRAY_DESCRIPTOR flat{};
  flat.Width = 20;
  flat.Height = 10;
  flat.Format = CU_AD_FORMAT_HALF;
  flat.NumChannels = 2;
  CUarray array = nullptr;
  EXPECT_EQ(cuArrayCreate(&array, &flat), CUDA_SUCCESS);
  CUDA_ARRAY_DESCRIPTOR told{};
  CUDA_ARRAY3D_DESCRIPTOR whole{};

  EXPECT_EQ(cuArrayGetDescriptor(&told, array), CUDA_SUCCESS);
  EXPECT_EQ(told.Width, 20u);
  EXPECT_EQ(told.NumChannels, 2u);
  EXPECT_EQ(cuArray3DGetDescriptor(&whole, array), CUDA_SUCCESS);
  EXPECT_EQ(whole.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(whole.Depth, 0u);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuArray3DGetDescriptor(&whole, array), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaArrays, KeepRowsThatAreCopiedInAndOut) {
  const CUarray array = create(shape(10, 4));
  const std::vector<unsigned char> host = counted(40);
  std::array<unsigned char, 6> back{};
  CUDA_MEMCPY2D in = rows(10, 4);
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host.data();
  in.srcPitch = 10;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  CUDA_MEMCPY2D out = rows(3, 2);
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.srcXInBytes = 7;
  out.srcY = 2;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = back.data();
  out.dstPitch = 3;

  EXPECT_EQ(cuMemcpy2D(&in), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy2D(&out), CUDA_SUCCESS);

  EXPECT_THAT(back, testing::ElementsAre(28, 29, 30, 38, 39, 40));
  out.srcXInBytes = 8;
  EXPECT_EQ(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE) << "the padding isn't the program's";
  out.srcXInBytes = 0;
  out.srcY = 3;
  EXPECT_EQ(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy2D(&in), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaArrays, KeepSlices) {
  const CUarray array = create(shape(4, 3, 2));
  const std::vector<unsigned char> host = counted(24);
  std::vector<unsigned char> back(24);
  CUDA_MEMCPY3D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host.data();
  in.srcPitch = 4;
  in.srcHeight = 3;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  in.WidthInBytes = 4;
  in.Height = 3;
  in.Depth = 2;
  const CUdeviceptr block = take(24);
  CUDA_MEMCPY3D out = in;
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  out.dstDevice = block;
  out.dstPitch = 4;
  out.dstHeight = 3;

  EXPECT_EQ(cuMemcpy3D(&in), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy3DAsync(&out, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(back.data(), block, 24), CUDA_SUCCESS);

  EXPECT_EQ(back, host);
  in.Depth = 3;
  EXPECT_EQ(cuMemcpy3D(&in), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(CudaArrays, OfOneRowAreCopiedByOffset) {
  const CUarray array = create(shape(16, 0));
  const std::vector<unsigned char> host = counted(16);
  std::array<unsigned char, 4> back{};

  EXPECT_EQ(cuMemcpyHtoA(array, 0, host.data(), 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoA(array, 0, array, 12, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoH(back.data(), array, 2, 4), CUDA_SUCCESS);

  EXPECT_THAT(back, testing::ElementsAre(15, 16, 5, 6));
  EXPECT_EQ(cuMemcpyHtoA(array, 1, host.data(), 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(CudaArrays, HaveLevelsThatGoTogether) {
  CUmipmappedArray mipmap = nullptr;
  CUarray level = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR what = shape(1024, 512);
  EXPECT_EQ(cuMipmappedArrayCreate(&mipmap, &what, 3), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity - (1024 * 512 + 512 * 256 + 256 * 128 + kKiB64 - 1) / kKiB64 * kKiB64);

  EXPECT_EQ(cuMipmappedArrayGetLevel(&level, mipmap, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuArray3DGetDescriptor(&what, level), CUDA_SUCCESS);
  EXPECT_EQ(what.Width, 256u);
  EXPECT_EQ(what.Height, 128u);
  EXPECT_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMipmappedArrayGetLevel(&level, mipmap, 3), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(cuMipmappedArrayDestroy(mipmap), CUDA_SUCCESS);
  EXPECT_EQ(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArray3DGetDescriptor(&what, level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(free_bytes(), kCapacity);
}

TEST_F(CudaArrays, TakeNothingWhileTheyAreSparse) {
  CUDA_ARRAY3D_DESCRIPTOR what = shape(1024, 1024);
  what.Flags = CUDA_ARRAY3D_SPARSE;
  const CUarray array = create(what);

  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(CudaArrays, EndWithTheirContext) {
  const CUcontext second = cuda_test::create_context(0);
  const CUarray array = create(shape(1024, 1024));

  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
