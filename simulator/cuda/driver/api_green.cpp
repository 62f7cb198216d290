// Green contexts: a share of a device's multiprocessors, of which nothing is simulated but the numbers, and a part of
// its primary context, of which everything is: memory, events and health are the primary's, streams the part's own.
#include "simulator/cuda/driver/internal_api.hpp"

#include <algorithm>

#include "simulator/cuda/driver/device_attributes.hpp"

#if CUDA_VERSION >= 12040

using namespace cuda_sim;

namespace {

constexpr unsigned kLeastPartition = 4;  // of compute capability 8, which the devices have (cuda.h)
constexpr unsigned kPartitionStep = 2;

CUdevResource resource_of(unsigned multiprocessors) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = multiprocessors;
#if CUDA_VERSION >= 13000
  resource.sm.minSmPartitionSize = kLeastPartition;
  resource.sm.smCoscheduledAlignment = kPartitionStep;
#endif
  return resource;
}

unsigned multiprocessors_of(const Driver& driver, CUdevice device) {
  return static_cast<unsigned>(
      device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, driver.machine_index(device)).value_or(0));
}

CUresult tell(CUdevResource* out, CUdevResourceType type, unsigned multiprocessors) {
  if (!out) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (type != CU_DEV_RESOURCE_TYPE_SM) {
    return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  }
  *out = resource_of(multiprocessors);
  return CUDA_SUCCESS;
}

// A descriptor is all that matters of it: the number of multiprocessors, marked so that no other pointer is taken for
// one.
constexpr std::uintptr_t kDescriptorMark = 0x5D9C'0000'0000'0000;

CUdevResourceDesc to_descriptor(unsigned multiprocessors) {
  return reinterpret_cast<CUdevResourceDesc>(kDescriptorMark + multiprocessors);
}

unsigned multiprocessors_of(CUdevResourceDesc descriptor) {
  const auto number = reinterpret_cast<std::uintptr_t>(descriptor);
  return (number & ~std::uintptr_t{0xFFFF'FFFF}) == kDescriptorMark ? static_cast<unsigned>(number) : 0;
}

template <class Body>
CUresult with_green(const char* name, CUgreenCtx handle, Body&& body) {
  return with_driver(name, [&](Call& call) {
    GreenContext* green = call.driver.contexts.find_green(handle);
    if (!green) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    return green->context.is_alive() ? body(call, *green) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  });
}

}  // namespace

// ---- resources

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                                        CUdevResourceType type) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.has_device(device) ? tell(resource, type, multiprocessors_of(call.driver, device))
                                          : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetDevResource(CUcontext handle, CUdevResource* resource,
                                                     CUdevResourceType type) {
  return with_driver(__func__, [&](Call& call) {
    const Context* context = call.driver.contexts.find(handle);
    if (!context) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    const GreenContext* green = call.driver.contexts.green_of(*context);
    return tell(resource, type, green ? green->multiprocessors : multiprocessors_of(call.driver, context->device));
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                                          CUdevResourceType type) {
  return with_green(__func__, handle,
                    [&](Call&, const GreenContext& green) { return tell(resource, type, green.multiprocessors); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* groups,
                                                             const CUdevResource* input, CUdevResource* remaining,
                                                             unsigned int, unsigned int least) {
  return with_driver(__func__, [&](Call&) {
    if (!groups || !input || least > input->sm.smCount) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (input->type != CU_DEV_RESOURCE_TYPE_SM) {
      return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    const unsigned wanted = std::max(least, kLeastPartition);
    const unsigned each = (wanted + kPartitionStep - 1) / kPartitionStep * kPartitionStep;
    const unsigned most = input->sm.smCount / each;
    if (!result) {
      *groups = most;
      return CUDA_SUCCESS;
    }
    *groups = std::min(*groups, most);
    std::fill_n(result, *groups, resource_of(each));
    if (remaining) {
      *remaining = resource_of(input->sm.smCount - *groups * each);
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevResourceGenerateDesc(CUdevResourceDesc* descriptor, CUdevResource* resources,
                                                           unsigned int count) {
  return with_driver(__func__, [&](Call&) {
    if (!descriptor || !resources || count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned multiprocessors = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) {
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
      }
      multiprocessors += resources[i].sm.smCount;
    }
    *descriptor = to_descriptor(multiprocessors);
    return multiprocessors > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  });
}

// ---- green contexts

CUDA_SIM_EXPORT CUresult CUDAAPI cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc descriptor, CUdevice device,
                                                  unsigned int flags) {
  return with_driver(__func__, [&](Call& call) {
    const unsigned multiprocessors = multiprocessors_of(descriptor);
    if (!handle || multiprocessors == 0 || flags != CU_GREEN_CTX_DEFAULT_STREAM) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    GreenContext* made = call.driver.contexts.create_green(device, multiprocessors);
    if (!made) {
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *handle = made->handle();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGreenCtxDestroy(CUgreenCtx handle) {
  return with_green(__func__, handle, [](Call& call, GreenContext& green) {
    if (!call.driver.end_context(green.context)) {
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    call.driver.release_primary(green.context.device);
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  return with_green(__func__, handle, [&](Call&, GreenContext& green) {
    if (!context) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *context = green.context.handle();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event) {
  return with_green(__func__, handle,
                    [&](Call& call, GreenContext& green) { return record_context(call, green.context, event); });
}

#if CUDA_VERSION >= 12050
CUDA_SIM_EXPORT CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned int flags,
                                                        int priority) {
  return with_green(__func__, handle, [&](Call& call, GreenContext& green) {
    return stream && flags == CU_STREAM_NON_BLOCKING
               ? call.driver.streams.create(green.context, flags, priority, *stream)
               : CUDA_ERROR_INVALID_VALUE;
  });
}
#endif

CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  return with_context(__func__, [&](Call& call) {
    const auto stream = call.driver.streams.find(handle, *call.context, false);
    if (!stream) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!green) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    GreenContext* found = call.driver.contexts.green_of(*stream->context);
    *green = found ? found->handle() : nullptr;
    return CUDA_SUCCESS;
  });
}

#if CUDA_VERSION >= 12090
CUDA_SIM_EXPORT CUresult CUDAAPI cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  return with_green(__func__, handle, [&](Call&, const GreenContext& green) {
    if (!id) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *id = green.context.id;
    return CUDA_SUCCESS;
  });
}
#endif

#endif
