// The seam beside the allocator: whoever wants to hear of changed counters.
#pragma once

#include "shared/base/device_basis.hpp"

namespace tidemark::alloc {

class StatsSink {
 public:
  virtual ~StatsSink() = default;

  // Called under the device's lock after every change, with the whole basis and the lines that changed since the last
  // call. Must not block, allocate, log or call back.
  virtual void publish(const DeviceBasis& basis, BasisLines changed) noexcept = 0;
};

}  // namespace tidemark::alloc
