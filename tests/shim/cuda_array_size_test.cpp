#include "shim/runtime/cuda_array_size.hpp"

#include <gtest/gtest.h>

namespace tidemark::runtime {
namespace {

CUDA_ARRAY3D_DESCRIPTOR shape(std::size_t width, std::size_t height, std::size_t depth, CUarray_format format,
                              unsigned channels, unsigned flags = 0) {
  CUDA_ARRAY3D_DESCRIPTOR made{};
  made.Width = width;
  made.Height = height;
  made.Depth = depth;
  made.Format = format;
  made.NumChannels = channels;
  made.Flags = flags;
  return made;
}

TEST(CudaArraySize, IsWhatTheShapeSays) {
  EXPECT_EQ(size_of_array(shape(100, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1), 1), 100U);
  EXPECT_EQ(size_of_array(shape(100, 10, 0, CU_AD_FORMAT_FLOAT, 4), 1), 16000U);
  EXPECT_EQ(size_of_array(shape(10, 10, 10, CU_AD_FORMAT_HALF, 2), 1), 4000U);
  EXPECT_EQ(size_of_array(shape(64, 64, 0, CU_AD_FORMAT_BC1_UNORM, 4), 1), 64U * 64U / 2U);
  EXPECT_EQ(size_of_array(shape(64, 64, 0, CU_AD_FORMAT_NV12, 3), 1), 64U * 64U * 3U / 2U);
}

TEST(CudaArraySize, AddsUpLevelsAndKeepsLayers) {
  EXPECT_EQ(size_of_array(shape(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1), 3), 64U * 64U + 32U * 32U + 16U * 16U);
  EXPECT_EQ(size_of_array(shape(4, 4, 6, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_CUBEMAP), 2), 6U * (16U + 4U));
}

// The driver makes at least one level, and no more than there are halvings.
TEST(CudaArraySize, TakesAnyNumberOfLevelsAsTheDriverDoes) {
  const CUDA_ARRAY3D_DESCRIPTOR square = shape(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
  EXPECT_EQ(size_of_array(square, 0), 64U * 64U);
  EXPECT_EQ(size_of_array(square, 7), 5461U);
  EXPECT_EQ(size_of_array(square, 0xFFFFFFFFU), 5461U);
}

TEST(CudaArraySize, IsNothingForArraysWithoutMemory) {
  EXPECT_EQ(size_of_array(shape(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE), 1), 0U);
  EXPECT_EQ(size_of_array(shape(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING), 1), 0U);
}

}  // namespace
}  // namespace tidemark::runtime
