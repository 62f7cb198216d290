// What is known about a request that failed for want of memory.
#pragma once

#include <cstdint>

#include "shared/base/bytes.hpp"
#include "shim/alloc/device_types.hpp"

namespace tidemark::alloc {

struct OutOfMemoryRecord {
  ContextId context{};
  Bytes requested;
  Bytes allocated;  // live at that moment
  Bytes reserved;
  Bytes held;
  Bytes device_free;  // the driver's answer; both 0 where it could not be asked (a capture was open, the driver failed)
  Bytes device_total;
  Bytes largest_free_block;
  std::uint64_t time_ns = 0;    // CLOCK_REALTIME
  bool is_above_limit = false;  // it would not fit below our own limit, whatever the device has
};

class OutOfMemoryObserver {
 public:
  virtual ~OutOfMemoryObserver() = default;

  // Called in the program's thread, without a lock, after the counters were published and before its call returns the
  // error.
  virtual void out_of_memory(const OutOfMemoryRecord& record) noexcept = 0;
};

}  // namespace tidemark::alloc
