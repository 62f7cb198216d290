// Arrays and mipmapped arrays; copies with them are in streamed_arrays.inc.
#include "simulator/cuda/runtime/array_shapes.hpp"

using namespace cuda_sim;

namespace {

cudaError_t create(cudaArray_t* array, const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned flags) {
  return with_context([&](const DriverApi& driver) {
    CUDA_ARRAY3D_DESCRIPTOR what{};
    CUresult code = array && channels ? to_descriptor(*channels, extent, flags, what) : CUDA_ERROR_INVALID_VALUE;
    CUarray made = nullptr;
    if (code == CUDA_SUCCESS) {
      code = call(driver.array_3d_create, &made, &what);
    }
    if (code == CUDA_SUCCESS) {
      *array = reinterpret_cast<cudaArray_t>(made);
    }
    return code;
  });
}

}  // namespace

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t* array, const struct cudaChannelFormatDesc* channels,
                                                      size_t width, size_t height, unsigned int flags) {
  return create(array, channels, {width, height, 0}, flags);
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t* array,
                                                        const struct cudaChannelFormatDesc* channels,
                                                        struct cudaExtent extent, unsigned int flags) {
  return create(array, channels, extent, flags);
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t array) {
  return with_context(
      [&](const DriverApi& driver) { return array ? call(driver.array_destroy, to_driver(array)) : CUDA_SUCCESS; });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                                               const struct cudaChannelFormatDesc* channels,
                                                               struct cudaExtent extent, unsigned int levels,
                                                               unsigned int flags) {
  return with_context([&](const DriverApi& driver) {
    CUDA_ARRAY3D_DESCRIPTOR what{};
    CUresult code = array && channels ? to_descriptor(*channels, extent, flags, what) : CUDA_ERROR_INVALID_VALUE;
    CUmipmappedArray made = nullptr;
    if (code == CUDA_SUCCESS) {
      code = call(driver.mipmapped_array_create, &made, &what, levels);
    }
    if (code == CUDA_SUCCESS) {
      *array = reinterpret_cast<cudaMipmappedArray_t>(made);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmap,
                                                                 unsigned int level) {
  return with_context([&](const DriverApi& driver) {
    CUarray found = nullptr;
    const CUresult code =
        array ? call(driver.mipmapped_array_get_level, &found, to_driver(mipmap), level) : CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
      *array = reinterpret_cast<cudaArray_t>(found);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return with_context([&](const DriverApi& driver) {
    return array ? call(driver.mipmapped_array_destroy, to_driver(array)) : CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaArrayGetInfo(struct cudaChannelFormatDesc* channels,
                                                       struct cudaExtent* extent, unsigned int* flags,
                                                       cudaArray_t array) {
  return with_context([&](const DriverApi& driver) {
    CUDA_ARRAY3D_DESCRIPTOR what{};
    const CUresult code = call(driver.array_3d_get_descriptor, &what, to_driver(array));
    if (code != CUDA_SUCCESS) {
      return code;
    }
    if (channels) {
      to_channels(what, *channels);
    }
    if (extent) {
      *extent = {what.Width, what.Height, what.Depth};
    }
    if (flags) {
      *flags = what.Flags;
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGetChannelDesc(struct cudaChannelFormatDesc* channels,
                                                         cudaArray_const_t array) {
  return with_context([&](const DriverApi& driver) {
    CUDA_ARRAY3D_DESCRIPTOR what{};
    const CUresult code =
        channels ? call(driver.array_3d_get_descriptor, &what, to_driver(array)) : CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
      to_channels(what, *channels);
    }
    return code;
  });
}
