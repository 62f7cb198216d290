// Contexts made by the program, and which is current.
#include "simulator/cuda/driver/internal_api.hpp"

#include "simulator/cuda/driver/limits.hpp"

using namespace cuda_sim;

namespace {

constexpr unsigned kKnownFlags = CU_CTX_FLAGS_MASK;

CUresult create(const char* name, CUcontext* context, unsigned flags, CUdevice device) {
  return with_driver(name, [&](Call& call) {
    if (!context || flags & ~kKnownFlags) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    Context& made = call.driver.contexts.create(device, flags);
    if (!ContextStack::push(made)) {
      call.driver.end_context(made);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *context = made.handle();
    return CUDA_SUCCESS;
  });
}

// A primary context is released, not destroyed; a green one has a call of its own.
CUresult destroy(Call& call, CUcontext handle) {
  Context* context = call.driver.contexts.find(handle);
  if (!context || context->primary || context->whole) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (ContextStack::top() == context) {
    ContextStack::pop();
  }
  return call.driver.end_context(*context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult push(Call& call, CUcontext handle) {
  Context* context = call.driver.contexts.find(handle);
  if (!context) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return ContextStack::push(*context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pop(CUcontext* out) {
  Context* context = ContextStack::pop();
  if (context && out) {
    *out = context->handle();
  }
  return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device) {
  return create(__func__, context, flags, device);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return create(__func__, context, flags, device);
}
// Execution affinity and interop parameters are not simulated; without them these are the older forms.
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinity, int count,
                                                unsigned int flags, CUdevice device) {
  return affinity || count ? CUDA_ERROR_NOT_SUPPORTED : create(__func__, context, flags, device);
}
#if CUDA_VERSION >= 12050
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                                                CUdevice device) {
  const bool plain = !parameters || (!parameters->execAffinityParams && !parameters->cigParams);
  return plain ? create(__func__, context, flags, device) : CUDA_ERROR_NOT_SUPPORTED;
}
#endif

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  return with_driver(__func__, [&](Call& call) { return destroy(call, context); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxDestroy_v2(CUcontext context) {
  return with_driver(__func__, [&](Call& call) { return destroy(call, context); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxAttach(CUcontext* context, unsigned int flags) {
  return with_context(__func__, [&](Call& call) {
    if (!context || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    ++call.context->attached;
    *context = call.context->handle();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxDetach(CUcontext handle) {
  return with_driver(__func__, [&](Call& call) {
    Context* context = call.driver.contexts.find(handle);
    if (!context || context->primary || context->whole || !context->is_alive()) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    return --context->attached == 0 ? destroy(call, handle) : CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
  return with_driver(__func__, [&](Call& call) { return push(call, context); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context) {
  return with_driver(__func__, [&](Call& call) { return push(call, context); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxPopCurrent(CUcontext* context) {
  return with_driver(__func__, [&](Call&) { return pop(context); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext* context) {
  return with_driver(__func__, [&](Call&) { return pop(context); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle) {
  return with_driver(__func__, [&](Call& call) {
    Context* context = handle ? call.driver.contexts.find(handle) : nullptr;
    if (handle && !context) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    ContextStack::replace_top(context);
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
  return with_driver(__func__, [&](Call&) {
    if (!context) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Context* current = ContextStack::top();
    *context = current ? current->handle() : nullptr;
    return CUDA_SUCCESS;
  });
}

namespace {

// Some clients (numba 0.56) hand over garbage where they mean the current context.
Context& named_or_current(Call& call, CUcontext handle) {
  Context* named = handle ? call.driver.contexts.find(handle) : nullptr;
  return named ? *named : *call.context;
}

CUresult tell_device(const Context& context, CUdevice* device) {
  if (!device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *device = context.device;
  return CUDA_SUCCESS;
}

CUresult synchronize(Call& call, Context& context) {
  if (const CUresult code = call.driver.captures.forbid_use_of(context); code != CUDA_SUCCESS) {
    return code;
  }
  const CUresult code = to_code(call.scheduler().synchronize_context(context.core), context);
  call.driver.pools.collect();
  return code == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_CONTEXT_IS_DESTROYED : code;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  return with_context(__func__, [&](Call& call) { return tell_device(*call.context, device); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxSynchronize(void) {
  return with_context(__func__, [](Call& call) { return synchronize(call, *call.context); });
}
#if CUDA_VERSION >= 13000
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return with_context(__func__, [&](Call& call) { return tell_device(named_or_current(call, context), device); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context) {
  return with_context(__func__, [&](Call& call) { return synchronize(call, named_or_current(call, context)); });
}
#endif

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetFlags(unsigned int* flags) {
  return with_context(__func__, [&](Call& call) {
    if (!flags) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = call.context->flags;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return with_driver(__func__, [&](Call& call) {
    Context* context = handle ? call.driver.contexts.find(handle) : ContextStack::top();
    if (!context) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!context->is_alive()) {
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (!id) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *id = context->id;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  return with_driver(__func__, [&](Call& call) {
    Context* context = handle ? call.driver.contexts.find(handle) : ContextStack::top();
    if (!context) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!version) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *version = 3020;  // of contexts since cuCtxCreate_v2
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return with_context(__func__, [&](Call&) {
    if (least) {
      *least = kLeastPriority;
    }
    if (greatest) {
      *greatest = kGreatestPriority;
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxGetLimit(size_t* value, CUlimit limit) {
  return with_context(__func__, [&](Call&) {
    if (!value) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return Limits::read(limit, *value) ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value) {
  return with_context(__func__,
                      [&](Call&) { return Limits::set(limit, value) ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT; });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return with_context(__func__, [&](Call& call) {
    Context* context = call.driver.contexts.find(peer);
    if (!context || !context->is_alive()) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (context->device == call.context->device) {
      return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    return call.driver.contexts.enable_peer(call.context->owner(), context->owner())
               ? CUDA_SUCCESS
               : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer) {
  return with_context(__func__, [&](Call& call) {
    Context* context = call.driver.contexts.find(peer);
    if (!context) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    return call.driver.contexts.disable_peer(call.context->owner(), context->owner())
               ? CUDA_SUCCESS
               : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuCtxRecordEvent(CUcontext handle, CUevent event) {
  return with_driver(__func__, [&](Call& call) {
    Context* context = call.driver.contexts.find(handle);
    return context ? record_context(call, *context, event) : CUDA_ERROR_INVALID_CONTEXT;
  });
}
