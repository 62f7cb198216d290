#include "simulator/cuda/driver/copies.hpp"

#include <utility>

namespace cuda_sim {
namespace {

enum class Kind { Device, Pinned, Pageable };

Kind kind_of(Driver& driver, sim::Address address) {
  if (driver.machine.place(address).device >= 0) {
    return Kind::Device;
  }
  return driver.host_memory.find(reinterpret_cast<const void*>(address)) ? Kind::Pinned : Kind::Pageable;
}

// The device can reach pinned memory under its own address, so it will do where a device pointer is meant.
bool fits(Kind kind, Side side) {
  return side == Side::Any || (side == Side::Device ? kind != Kind::Pageable : kind != Kind::Device);
}

sim::Address address_of(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<sim::Address>(host) : device;
}

Side side_of(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST ? Side::Host : type == CU_MEMORYTYPE_DEVICE ? Side::Device : Side::Any;
}

bool is_linear(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
}

}  // namespace

CUresult submit(Call& call, const Stream& stream, sim::Work work) {
  bool swallow = false;
  if (const CUresult code = call.driver.captures.admit_work(stream, swallow); code != CUDA_SUCCESS || swallow) {
    return code;
  }
  return to_code(call.driver.machine.submit(stream.core, std::move(work)), *stream.context);
}

CUresult wait_for(Call& call, const Stream& stream) {
  if (const CUresult code = call.driver.captures.forbid_wait_for(stream); code != CUDA_SUCCESS) {
    return code;
  }
  const CUresult code = to_code(call.scheduler().synchronize(stream.core), *stream.context);
  call.driver.pools.collect();
  return code;
}

CUresult transfer(Call& call, const Stream& stream, Transfer transfer, Mode mode) {
  sim::Copy& copy = transfer.copy;
  call.scope.note("bytes=%llu", static_cast<unsigned long long>(copy.width * copy.height));
  if (mode == Mode::Synchronous) {
    if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
      return code;
    }
  }
  if (copy.width == 0 || copy.height == 0) {
    return CUDA_SUCCESS;
  }
  const Kind to = kind_of(call.driver, copy.to);
  const Kind from = kind_of(call.driver, copy.from);
  if (!fits(to, transfer.to) || !fits(from, transfer.from)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  copy.host_source = from == Kind::Pageable ? sim::HostSource::Staged : sim::HostSource::Late;
  if (const CUresult code = submit(call, stream, std::move(copy)); code != CUDA_SUCCESS) {
    return code;
  }
  // Between devices nobody waits; into pageable memory everybody does; out of it the bytes are staged, and the call
  // returns before they have arrived.
  const bool within_devices = to == Kind::Device && from == Kind::Device;
  const bool staged = to == Kind::Device && from == Kind::Pageable;
  const bool waits = to == Kind::Pageable || (mode == Mode::Synchronous && !within_devices && !staged) ||
                     (to != Kind::Device && from != Kind::Device);
  if (!waits || call.driver.captures.state_of(stream).status != CU_STREAM_CAPTURE_STATUS_NONE) {
    return CUDA_SUCCESS;
  }
  return wait_for(call, stream);
}

CUresult fill(Call& call, const Stream& stream, const sim::Fill& fill, Mode mode) {
  call.scope.note("bytes=%llu", static_cast<unsigned long long>(fill.width * fill.height));
  if (mode == Mode::Synchronous) {
    if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
      return code;
    }
  }
  if (fill.to % fill.element != 0 || (fill.height > 1 && fill.pitch % fill.element != 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submit(call, stream, fill);  // even the functions without Async don't wait for device memory
}

CUresult to_transfer(const CUDA_MEMCPY2D& rows, Transfer& out) {
  if (!is_linear(rows.srcMemoryType) || !is_linear(rows.dstMemoryType)) {
    return CUDA_ERROR_NOT_SUPPORTED;  // arrays
  }
  // A pitch of 0 means rows without a gap.
  const std::size_t from_pitch = rows.srcPitch ? rows.srcPitch : rows.srcXInBytes + rows.WidthInBytes;
  const std::size_t to_pitch = rows.dstPitch ? rows.dstPitch : rows.dstXInBytes + rows.WidthInBytes;
  if (from_pitch < rows.srcXInBytes + rows.WidthInBytes || to_pitch < rows.dstXInBytes + rows.WidthInBytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out.to = side_of(rows.dstMemoryType);
  out.from = side_of(rows.srcMemoryType);
  out.copy.to = address_of(rows.dstMemoryType, rows.dstHost, rows.dstDevice) + rows.dstY * to_pitch + rows.dstXInBytes;
  out.copy.from =
      address_of(rows.srcMemoryType, rows.srcHost, rows.srcDevice) + rows.srcY * from_pitch + rows.srcXInBytes;
  out.copy.width = rows.WidthInBytes;
  out.copy.height = rows.Height;
  out.copy.to_pitch = to_pitch;
  out.copy.from_pitch = from_pitch;
  return CUDA_SUCCESS;
}

}  // namespace cuda_sim
