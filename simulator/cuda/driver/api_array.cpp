// Arrays and mipmapped arrays.
#include "simulator/cuda/driver/internal_api.hpp"

#include <algorithm>
#include <vector>

#include "simulator/cuda/driver/device_allocation.hpp"

using namespace cuda_sim;

namespace {

CUDA_ARRAY3D_DESCRIPTOR as_3d(const CUDA_ARRAY_DESCRIPTOR& what) {
  return {.Width = what.Width,
          .Height = what.Height,
          .Depth = 0,
          .Format = what.Format,
          .NumChannels = what.NumChannels,
          .Flags = 0};
}

CUresult create(const char* name, CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* what) {
  return with_context(
      name,
      [&](Call& call) {
        if (!handle || !what) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        call.scope.note("width=%zu height=%zu depth=%zu", what->Width, what->Height, what->Depth);
        Array array{.what = *what, .context = &call.context->owner()};
        CUresult code = lay_out(*what, array.layout);
        if (code == CUDA_SUCCESS && takes_memory(*what)) {
          code = allocate_on_device(call, padded(array.layout.size()), array.base);
        }
        if (code == CUDA_SUCCESS) {
          *handle = call.driver.arrays.add(array);
        }
        return code;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

// `base`: 0 for what has no memory.
CUresult release(Call& call, sim::Address base) {
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS || base == 0) {
    return code;
  }
  call.driver.gate.delay_free();
  const CUresult code = wait_before_free(call, call.driver.machine.place(base));
  return code == CUDA_SUCCESS ? to_code(call.driver.machine.release(base)) : code;
}

template <class Descriptor, class Convert>
CUresult describe(const char* name, Descriptor* out, CUarray handle, Convert&& convert) {
  return with_context(name, [&](Call& call) {
    const std::optional<Array> array = call.driver.arrays.find(handle);
    if (!out || !array) {
      return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    }
    *out = convert(array->what);
    return CUDA_SUCCESS;
  });
}

std::size_t halved(std::size_t extent, unsigned level) {
  return extent == 0 ? 0 : std::max<std::size_t>(extent >> level, 1);
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* what) {
  const CUDA_ARRAY3D_DESCRIPTOR whole = what ? as_3d(*what) : CUDA_ARRAY3D_DESCRIPTOR{};
  return create(__func__, array, what ? &whole : nullptr);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* what) {
  return create(__func__, array, what);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuArrayDestroy(CUarray handle) {
  return with_context(__func__, [&](Call& call) {
    const std::optional<Array> array = call.driver.arrays.find(handle);
    if (!array || array->mipmap) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    const CUresult code = release(call, array->base);
    if (code == CUDA_SUCCESS) {
      call.driver.arrays.remove(handle);
    }
    return code;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* what, CUarray array) {
  return describe(__func__, what, array, [](const CUDA_ARRAY3D_DESCRIPTOR& whole) {
    return CUDA_ARRAY_DESCRIPTOR{
        .Width = whole.Width, .Height = whole.Height, .Format = whole.Format, .NumChannels = whole.NumChannels};
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* what, CUarray array) {
  return describe(__func__, what, array, [](const CUDA_ARRAY3D_DESCRIPTOR& whole) { return whole; });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* what,
                                                        unsigned int count) {
  return with_context(
      __func__,
      [&](Call& call) {
        if (!handle || !what || count == 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        call.scope.note("width=%zu height=%zu depth=%zu levels=%u", what->Width, what->Height, what->Depth, count);
        const std::size_t longest = std::max({what->Width, what->Height, what->Depth});
        const bool layered = what->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
        std::vector<Array> levels;
        std::uint64_t size = 0;
        // More levels than it takes to get to one element are cut off, as documented.
        for (unsigned level = 0; level < count && (level == 0 || longest >> level > 0); ++level) {
          Array array{.what = *what, .context = &call.context->owner()};
          array.what.Width = halved(what->Width, level);
          array.what.Height = halved(what->Height, level);
          array.what.Depth = layered ? what->Depth : halved(what->Depth, level);
          if (const CUresult code = lay_out(array.what, array.layout); code != CUDA_SUCCESS) {
            return code;
          }
          array.base = size;
          size += array.layout.size();
          levels.push_back(array);
        }
        sim::Address base = 0;
        if (takes_memory(*what)) {
          if (const CUresult code = allocate_on_device(call, padded(size), base); code != CUDA_SUCCESS) {
            return code;
          }
        }
        for (Array& level : levels) {
          level.base = base == 0 ? 0 : base + level.base;
        }
        *handle = call.driver.arrays.add_mipmap(levels, base);
        return CUDA_SUCCESS;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned int level) {
  return with_context(__func__, [&](Call& call) {
    if (!call.driver.arrays.find_mipmap(handle)) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    CUarray found = call.driver.arrays.level(handle, level);
    if (!array || !found) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *array = found;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return with_context(__func__, [&](Call& call) {
    const std::optional<sim::Address> base = call.driver.arrays.find_mipmap(handle);
    if (!base) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    const CUresult code = release(call, *base);
    if (code == CUDA_SUCCESS) {
      call.driver.arrays.remove(handle);
    }
    return code;
  });
}

#if CUDA_VERSION >= 11060
namespace {

// Told of what is mapped later: the memory it will take, and how it is to be aligned.
CUresult require(const char* name, CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray (*first)(Call&, const void*),
                 const void* handle, CUdevice device) {
  return with_context(name, [&](Call& call) {
    if (!call.driver.has_device(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    const std::optional<Array> array = call.driver.arrays.find(first(call, handle));
    if (!out || !array || takes_memory(array->what)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *out = {};
    out->size = padded(array->layout.size());
    out->alignment = padded(1);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray array,
                                                              CUdevice device) {
  const auto itself = [](Call&, const void* handle) { return static_cast<CUarray>(const_cast<void*>(handle)); };
  return require(__func__, out, itself, array, device);
}
#endif
