#include "simulator/cuda/runtime/array_shapes.hpp"

namespace cuda_sim {
namespace {

int bits_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 16;
    default:
      return 32;
  }
}

cudaChannelFormatKind kind_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return cudaChannelFormatKindUnsigned;
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT:
      return cudaChannelFormatKindFloat;
    default:
      return cudaChannelFormatKindSigned;
  }
}

constexpr CUarray_format kFormats[] = {
    CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
    CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_SIGNED_INT32,   CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

void set_source(CUDA_MEMCPY3D& copy, const cudaPitchedPtr& from) {
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = to_device(from.ptr);
  copy.srcPitch = from.pitch;
  copy.srcHeight = from.ysize;
}

void set_target(CUDA_MEMCPY3D& copy, const cudaPitchedPtr& to) {
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = to_device(to.ptr);
  copy.dstPitch = to.pitch;
  copy.dstHeight = to.ysize;
}

}  // namespace

CUresult to_descriptor(const cudaChannelFormatDesc& channels, cudaExtent extent, unsigned flags,
                       CUDA_ARRAY3D_DESCRIPTOR& out) {
  const int bits[] = {channels.x, channels.y, channels.z, channels.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) {
    if (bits[count++] != channels.x) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (const CUarray_format format : kFormats) {
    if (bits_of(format) == channels.x && kind_of(format) == channels.f) {
      out = {};
      out.Width = extent.width;
      out.Height = extent.height;
      out.Depth = extent.depth;
      out.Format = format;
      out.NumChannels = count;
      out.Flags = flags;  // numbered alike
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

void to_channels(const CUDA_ARRAY3D_DESCRIPTOR& what, cudaChannelFormatDesc& out) {
  const int bits = bits_of(what.Format);
  out = {bits, what.NumChannels > 1 ? bits : 0, what.NumChannels > 2 ? bits : 0, what.NumChannels > 3 ? bits : 0,
         kind_of(what.Format)};
}

CUresult element_bytes(const DriverApi& driver, cudaArray_const_t array, std::size_t& out) {
  out = 1;
  if (!array) {
    return CUDA_SUCCESS;
  }
  CUDA_ARRAY3D_DESCRIPTOR what{};
  const CUresult code = call(driver.array_3d_get_descriptor, &what, to_driver(array));
  if (code == CUDA_SUCCESS) {
    out = static_cast<std::size_t>(bits_of(what.Format)) / 8 * what.NumChannels;
  }
  return code;
}

CUresult to_copy(const DriverApi& driver, const cudaMemcpy3DParms& what, CUDA_MEMCPY3D& out) {
  // Each side is one thing.
  if (!what.srcArray == !what.srcPtr.ptr || !what.dstArray == !what.dstPtr.ptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::size_t from_element = 1;
  std::size_t to_element = 1;
  if (const CUresult code = element_bytes(driver, what.srcArray, from_element); code != CUDA_SUCCESS) {
    return code;
  }
  if (const CUresult code = element_bytes(driver, what.dstArray, to_element); code != CUDA_SUCCESS) {
    return code;
  }
  if (what.srcArray && what.dstArray && from_element != to_element) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out = {};
  if (what.srcArray) {
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    out.srcArray = to_driver(what.srcArray);
  } else {
    set_source(out, what.srcPtr);
  }
  if (what.dstArray) {
    out.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    out.dstArray = to_driver(what.dstArray);
  } else {
    set_target(out, what.dstPtr);
  }
  out.srcXInBytes = what.srcPos.x * from_element;
  out.srcY = what.srcPos.y;
  out.srcZ = what.srcPos.z;
  out.dstXInBytes = what.dstPos.x * to_element;
  out.dstY = what.dstPos.y;
  out.dstZ = what.dstPos.z;
  out.WidthInBytes = what.extent.width * (what.srcArray ? from_element : to_element);
  out.Height = what.extent.height;
  out.Depth = what.extent.depth;
  return CUDA_SUCCESS;
}

}  // namespace cuda_sim
