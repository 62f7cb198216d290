// The MTIA driver for PyTorch's sake: called as any program calls it, so that the library in front of it sees the
// calls. A failure is PyTorch's error.
#pragma once

#include <c10/core/Device.h>
#include <cstddef>
#include <cstdint>

namespace tidemark::torch_mtia {

// Of the calling thread.
[[nodiscard]] c10::DeviceIndex current_device();
void set_device(c10::DeviceIndex device);
[[nodiscard]] c10::DeviceIndex device_count();  // 0 without a driver

// Null for 0 bytes. c10::OutOfMemoryError where the driver says so.
[[nodiscard]] void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
void copy(void* to, const void* from, std::size_t bytes);
void fill(void* memory, int value, std::size_t bytes);
void synchronize(c10::DeviceIndex device);

// "mtia:1", as the client library takes it.
struct DeviceName {
  explicit DeviceName(c10::DeviceIndex device);
  char text[16];
};
// The client library's code, as an error with its line.
void check(std::int64_t code);

}  // namespace tidemark::torch_mtia
