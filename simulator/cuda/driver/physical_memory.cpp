#include "simulator/cuda/driver/physical_memory.hpp"

#include <algorithm>
#include <vector>

namespace cuda_sim {

CUresult PhysicalMemory::create(const CUmemAllocationProp& properties, int device, std::uint64_t size,
                                CUmemGenericAllocationHandle& out) {
  const bool charged = device != sim::kTheHost;
  if (charged && machine_.memory(device).charge(size) != sim::Status::Ok) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const auto types = static_cast<std::uint32_t>(properties.requestedHandleTypes);
  const sim::SharedBytes::Label label{.size = size, .device = device, .handle_types = types};
  auto bytes = types != 0 ? sim::SharedBytes::make_exportable(label) : sim::SharedBytes::make(size);
  if (!bytes) {
    if (charged) {
      machine_.memory(device).discharge(size);
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  std::lock_guard lock{mutex_};
  out = ++last_;
  all_.emplace(
      out,
      Physical{
          .properties = properties, .size = size, .device = device, .charged = charged, .bytes = std::move(bytes)});
  return CUDA_SUCCESS;
}

void PhysicalMemory::drop_if_unused(All::iterator found) {
  const Physical& physical = found->second;
  if (physical.references > 0 || physical.mappings > 0) {
    return;
  }
  if (physical.charged) {
    machine_.memory(physical.device).discharge(physical.size);
  }
  all_.erase(found);
}

CUresult PhysicalMemory::release(CUmemGenericAllocationHandle handle) {
  std::lock_guard lock{mutex_};
  const auto found = all_.find(handle);
  if (found == all_.end() || found->second.references == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  --found->second.references;
  drop_if_unused(found);
  return CUDA_SUCCESS;
}

std::optional<Physical> PhysicalMemory::find(CUmemGenericAllocationHandle handle) const {
  std::lock_guard lock{mutex_};
  const auto found = all_.find(handle);
  return found != all_.end() && found->second.references > 0 ? std::optional{found->second} : std::nullopt;
}

CUresult PhysicalMemory::map(CUdeviceptr at, std::uint64_t size, CUmemGenericAllocationHandle handle) {
  std::lock_guard lock{mutex_};
  const auto found = all_.find(handle);
  if (found == all_.end() || found->second.references == 0 || size > found->second.size) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Physical& physical = found->second;
  const sim::Status status = machine_.virtual_memory().map(
      {.base = at, .size = size, .device = physical.device, .handle = handle, .bytes = physical.bytes});
  if (status == sim::Status::Ok) {
    ++physical.mappings;
  }
  return status == sim::Status::Ok             ? CUDA_SUCCESS
         : status == sim::Status::InvalidValue ? CUDA_ERROR_INVALID_VALUE
                                               : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult PhysicalMemory::unmap(CUdeviceptr at, std::uint64_t size) {
  std::lock_guard lock{mutex_};
  std::vector<std::uint64_t> gone;
  const auto first = machine_.virtual_memory().find(at);
  if (!first || first->handle == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (machine_.virtual_memory().unmap(at, size, gone) != sim::Status::Ok) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const std::uint64_t handle : gone) {
    const auto found = all_.find(handle);
    --found->second.mappings;
    drop_if_unused(found);
  }
  return CUDA_SUCCESS;
}

CUresult PhysicalMemory::retain(CUdeviceptr address, CUmemGenericAllocationHandle& out) {
  std::lock_guard lock{mutex_};
  const auto mapping = machine_.virtual_memory().find(address);
  if (!mapping || mapping->handle == 0) {  // memory of a graph has no handle
    return CUDA_ERROR_INVALID_VALUE;
  }
  ++all_.at(mapping->handle).references;
  out = mapping->handle;
  return CUDA_SUCCESS;
}

CUresult PhysicalMemory::export_descriptor(CUmemGenericAllocationHandle handle, int& fd) const {
  const std::optional<Physical> physical = find(handle);
  if (!physical || physical->properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int made = physical->bytes->export_descriptor();
  if (made < 0) {
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  fd = made;
  return CUDA_SUCCESS;
}

CUresult PhysicalMemory::import_descriptor(int fd, const std::vector<int>& ordinals,
                                           CUmemGenericAllocationHandle& out) {
  std::lock_guard lock{mutex_};
  for (auto& [handle, physical] : all_) {
    if (physical.bytes->is_behind(fd)) {
      ++physical.references;
      out = handle;
      return CUDA_SUCCESS;
    }
  }
  sim::SharedBytes::Label label;
  auto bytes = sim::SharedBytes::open(fd, label);
  if (!bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto ordinal = std::find(ordinals.begin(), ordinals.end(), label.device);
  if (ordinal == ordinals.end() && label.device != sim::kTheHost) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  Physical physical{.size = label.size, .device = label.device, .bytes = std::move(bytes)};
  CUmemAllocationProp& properties = physical.properties;
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(label.handle_types);
  properties.location.type =
      label.device == sim::kTheHost ? static_cast<CUmemLocationType>(3) : CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = label.device == sim::kTheHost ? 0 : static_cast<int>(ordinal - ordinals.begin());
  out = ++last_;
  all_.emplace(out, std::move(physical));
  return CUDA_SUCCESS;
}

}  // namespace cuda_sim
