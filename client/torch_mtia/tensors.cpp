// As much of tensors as shows their memory: made without contents or with zeros, on the device.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "client/torch_mtia/mtia_calls.hpp"

namespace tidemark::torch_mtia {
namespace {

constexpr c10::DispatchKeySet kKeys{c10::DispatchKey::MTIA};

c10::Device device_of(std::optional<c10::Device> device) {
  return device && device->has_index() ? *device : c10::Device(c10::DeviceType::MTIA, current_device());
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                 std::optional<c10::Device> device, std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  const c10::DeviceGuard guard{device_of(device)};
  return at::detail::empty_generic(sizes, c10::GetAllocator(c10::DeviceType::MTIA), kKeys, c10::dtype_or_default(type),
                                   format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<c10::ScalarType> type,
                         std::optional<c10::Layout>, std::optional<c10::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard{device_of(device)};
  return at::detail::empty_strided_generic(sizes, strides, c10::GetAllocator(c10::DeviceType::MTIA), kKeys,
                                           c10::dtype_or_default(type));
}

at::Tensor& zero(at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_contiguous(), "zero_() on mtia is there for contiguous tensors");
  const c10::DeviceGuard guard{tensor.device()};
  fill(tensor.data_ptr(), 0, tensor.nbytes());
  return tensor;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, MTIA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("zero_", &zero);
}

}  // namespace tidemark::torch_mtia
