// The MTIA driver seen from the allocator: one device's memory (Upstream), and which device a call is about.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "mtia.h"
#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/backend/device_identity.hpp"

namespace tidemark::backend {

// The driver's code for an error of ours: its own where there is one.
[[nodiscard]] mtiaResult_t to_mtia(Error error) noexcept;

// Memory of one device. A device reset ends what came before: the context is the device's generation.
class MtiaUpstream final : public alloc::Upstream {
 public:
  explicit MtiaUpstream(int device) noexcept : device_(device) {}

  Result<alloc::DevicePtr> allocate(alloc::ContextId context, Bytes size) noexcept override;
  Status release(alloc::ContextId context, alloc::DevicePtr ptr) noexcept override;
  Status wait_for_all_work(alloc::ContextId context) noexcept override;
  Status fill(alloc::ContextId context, alloc::DevicePtr ptr, Bytes size, unsigned char value) noexcept override;
  [[nodiscard]] bool can_fill() const noexcept override;
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId context) noexcept override;

 private:
  int device_;
};

// The calling thread's device; none while the driver is not loaded or refuses.
[[nodiscard]] std::optional<int> current_mtia_device() noexcept;

[[nodiscard]] DeviceIdentity describe_mtia_device(int device) noexcept;

}  // namespace tidemark::backend
