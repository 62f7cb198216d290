#include "shim/runtime/cuda_kind_calls.hpp"

#include "shim/runtime/cuda_array_size.hpp"
#include "shim/runtime/cuda_context_calls.hpp"
#include "shim/runtime/cuda_driver_calls.hpp"

namespace tidemark::runtime {
namespace {

std::uint64_t name_of(const void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

// What has just been allocated was allocated in a context: a question that fails is put once more, since memory that is
// booked without its context stays in the books when that ends.
std::optional<backend::CudaPlace> place_of_thread() noexcept {
  const auto place = cuda_contexts().current();
  return place ? place : cuda_contexts().current();
}

std::uint64_t context_of_thread() noexcept {
  const auto place = place_of_thread();
  return place ? static_cast<std::uint64_t>(place->context) : 0;
}

template <class Value>
bool ask(Value* value, CUpointer_attribute attribute, CUdeviceptr ptr) noexcept {
  return backend::real_cuda().cuPointerGetAttribute(value, attribute, ptr) == CUDA_SUCCESS;
}

// An allocation in a capture is a node of a graph: its memory comes with the graph's launch. Only where a capture is
// open is it worth the question, one of the few that a capture allows.
bool is_captured(CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return capture_gate().is_open() && backend::real_cuda().cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::uint64_t range_size(CUdeviceptr ptr) noexcept {
  std::size_t size = 0;
  return ask(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, ptr) ? size : 0;
}

CUDA_ARRAY3D_DESCRIPTOR in_three_dimensions(const CUDA_ARRAY_DESCRIPTOR& shape) noexcept {
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  whole.Width = shape.Width;
  whole.Height = shape.Height;
  whole.Format = shape.Format;
  whole.NumChannels = shape.NumChannels;
  return whole;
}

}  // namespace

ServedDevice* CudaKindCalls::current_device(alloc::ContextId* context) noexcept {
  const auto place = place_of_thread();
  if (!place) {
    return nullptr;
  }
  *context = place->context;
  return served_cuda_device(runtime_, place->device);
}

void CudaKindCalls::add(DeviceKind kind, KindSpace space, std::uint64_t name, std::uint64_t size) noexcept {
  alloc::ContextId context{};
  ServedDevice* const device = current_device(&context);
  if (device == nullptr) {
    return;
  }
  const alloc::KindRecord record{.name = name,
                                 .size = size,
                                 .context = static_cast<std::uint64_t>(context),
                                 .place = runtime_.place_of(*device),
                                 .space = space,
                                 .kind = static_cast<std::uint8_t>(kind)};
  kind == DeviceKind::Imported ? books_.open(record) : books_.add(record);
  runtime_.after_success(*device);
}

void CudaKindCalls::managed(CUdeviceptr ptr, std::size_t size) noexcept {
  add(DeviceKind::Managed, KindSpace::Device, ptr, size);
}

bool CudaKindCalls::pitched(CUdeviceptr ptr, std::size_t size) noexcept {
  alloc::ContextId context{};
  ServedDevice* const device = current_device(&context);
  if (device == nullptr) {
    return true;
  }
  const publish::Historian::CallStack stack{runtime_.historian()};
  const Status adopted = device->cache().adopt_within_limit(context, alloc::DevicePtr{ptr}, Bytes{size});
  if (adopted.ok()) {
    runtime_.after_success(*device);
    return true;
  }
  const bool has_room = adopted.error().code != ErrorCode::OutOfMemory;
  if (!has_room) {
    runtime_.after_failure(*device, adopted.error());
  }
  return has_room;
}

bool CudaKindCalls::pooled(DeviceKind kind, CUdeviceptr ptr, std::size_t size, CUstream stream) noexcept {
  int ordinal = 0;
  CUmemorytype where{};
  if (is_captured(stream) || !ask(&where, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr)) {
    return false;
  }
  if (where == CU_MEMORYTYPE_HOST) {
    books_.add({.name = ptr,
                .size = size,
                .place = alloc::KindBooks::kHostPlace,
                .space = KindSpace::Device,
                .kind = static_cast<std::uint8_t>(HostKind::Pool)});
    runtime_.after_host_success();
    return true;
  }
  ServedDevice* const device =
      ask(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr) ? served_cuda_device(runtime_, ordinal) : nullptr;
  if (device == nullptr) {
    return false;
  }
  books_.add({.name = ptr,
              .size = size,
              .place = runtime_.place_of(*device),
              .space = KindSpace::Device,
              .kind = static_cast<std::uint8_t>(kind)});
  runtime_.after_success(*device);
  return true;
}

void CudaKindCalls::add_shaped(std::uint64_t handle, const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) noexcept {
  if (const std::uint64_t size = size_of_array(shape, levels); size > 0) {
    add(DeviceKind::Array, KindSpace::Array, handle, size);
  }
}

void CudaKindCalls::array(CUarray array, const CUDA_ARRAY_DESCRIPTOR& shape) noexcept {
  add_shaped(name_of(array), in_three_dimensions(shape), 1);
}

void CudaKindCalls::array(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR& shape) noexcept {
  add_shaped(name_of(array), shape, 1);
}

void CudaKindCalls::mipmapped(CUmipmappedArray array, const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) noexcept {
  add_shaped(name_of(array), shape, levels);
}

void CudaKindCalls::host(HostKind kind, const void* ptr, std::size_t size) noexcept {
  books_.add({.name = name_of(ptr),
              .size = size,
              .context = context_of_thread(),
              .place = alloc::KindBooks::kHostPlace,
              .space = KindSpace::Host,
              .kind = static_cast<std::uint8_t>(kind)});
  runtime_.after_host_success();
}

void CudaKindCalls::opened(CUdeviceptr ptr) noexcept {
  add(DeviceKind::Imported, KindSpace::Device, ptr, range_size(ptr));
}

void CudaKindCalls::external(CUexternalMemory memory, std::uint64_t size) noexcept {
  add(DeviceKind::Imported, KindSpace::External, name_of(memory), size);
}

void CudaKindCalls::created(CUmemGenericAllocationHandle handle, std::size_t size,
                            const CUmemLocation& location) noexcept {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    books_.create(
        handle,
        {.size = size, .place = alloc::KindBooks::kHostPlace, .kind = static_cast<std::uint8_t>(HostKind::Vmm)});
    runtime_.after_host_success();
    return;
  }
  if (ServedDevice* const device = served_cuda_device(runtime_, location.id); device != nullptr) {
    books_.create(
        handle,
        {.size = size, .place = runtime_.place_of(*device), .kind = static_cast<std::uint8_t>(DeviceKind::Vmm)});
    runtime_.after_success(*device);
  }
}

// Nobody says how large it is; its mappings will.
void CudaKindCalls::handle_imported(CUmemGenericAllocationHandle handle) noexcept {
  alloc::ContextId context{};
  if (ServedDevice* const device = current_device(&context); device != nullptr) {
    books_.import_handle(
        handle, {.place = runtime_.place_of(*device), .kind = static_cast<std::uint8_t>(DeviceKind::Imported)});
    runtime_.after_success(*device);
  }
}

void CudaKindCalls::retained(CUmemGenericAllocationHandle handle, const void* mapped) noexcept {
  books_.retain(handle, name_of(mapped));
}

void CudaKindCalls::mapped(CUdeviceptr ptr, std::size_t size, std::size_t offset,
                           CUmemGenericAllocationHandle handle) noexcept {
  books_.map(ptr, size, offset, handle);
}

}  // namespace tidemark::runtime
