#include "simulator/cuda/driver/device_allocation.hpp"

namespace cuda_sim {

CUresult allocate_on_device(Call& call, std::size_t size, sim::Address& out) {
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
    return code;
  }
  call.driver.gate.delay_alloc();
  call.driver.pools.collect();
  sim::Status status = call.driver.machine.allocate(call.context->core, size, out);
  if (status == sim::Status::OutOfMemory) {
    call.driver.pools.drain();
    status = call.driver.machine.allocate(call.context->core, size, out);
  }
  return status == sim::Status::InvalidHandle ? CUDA_ERROR_CONTEXT_IS_DESTROYED : to_code(status);
}

CUresult wait_before_free(Call& call, const sim::Place& place) {
  call.driver.machine.synchronize_device(place.device);
  if (Context* owner = call.driver.contexts.owner_of(place.allocation.owner)) {
    const sim::Status health = call.scheduler().synchronize_context(place.allocation.owner);
    if (to_code(health, *owner) == CUDA_ERROR_ILLEGAL_ADDRESS) {
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace cuda_sim
