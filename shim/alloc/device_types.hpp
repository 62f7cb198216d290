// The words of the allocator: an address on a device, a context on it.
#pragma once

#include <compare>
#include <cstdint>

namespace tidemark::alloc {

// An address in device memory. Never dereferenced: it may be unreadable from the host.
class DevicePtr {
 public:
  constexpr DevicePtr() = default;
  constexpr explicit DevicePtr(std::uint64_t address) : address_(address) {}

  [[nodiscard]] constexpr std::uint64_t address() const { return address_; }
  constexpr auto operator<=>(const DevicePtr&) const = default;

 private:
  std::uint64_t address_ = 0;
};

// The owner of memory within a device: a CUDA context's id (never re-used, unlike its handle), an MTIA device's
// generation.
enum class ContextId : std::uint64_t {};

// A stream as the program named it in its call; only handed through.
enum class StreamHandle : std::uint64_t {};

}  // namespace tidemark::alloc
