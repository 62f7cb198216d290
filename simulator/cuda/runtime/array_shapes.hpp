// Arrays as the runtime speaks of them, in the driver's words. Any thread may call.
#pragma once

#include "simulator/cuda/runtime/call.hpp"

namespace cuda_sim {

// Both libraries mean the same thing by these.
inline CUarray to_driver(cudaArray_const_t array) { return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array)); }
inline CUmipmappedArray to_driver(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray*>(array));
}

// CUDA_ERROR_INVALID_VALUE for channels that no array has.
CUresult to_descriptor(const cudaChannelFormatDesc& channels, cudaExtent extent, unsigned flags,
                       CUDA_ARRAY3D_DESCRIPTOR& out);
void to_channels(const CUDA_ARRAY3D_DESCRIPTOR& what, cudaChannelFormatDesc& out);
// Extent and places of a copy with an array are counted in its elements; NULL: in bytes.
CUresult element_bytes(const DriverApi& driver, cudaArray_const_t array, std::size_t& out);
CUresult to_copy(const DriverApi& driver, const cudaMemcpy3DParms& what, CUDA_MEMCPY3D& out);

}  // namespace cuda_sim
