// The seam below the allocator: what it needs of one device's driver.
//
// Threads: any; several at once. The allocator never holds a lock of its own across a call.
// Errors: the driver's code travels in Error::native and reaches the program unchanged. OutOfMemory is said only when
// the driver said so. An implementation restores whatever thread state it had to change (current context or device), on
// success and on failure, and leaves the runtime's "last error" alone.
// At exit the driver may be gone: calls then fail with NotInitialized and nothing else happens. Refused: the driver
// takes no call from this thread now (it runs a host function of a stream); nothing was done, and the device is in
// order. Captures: a helper call (wait, fence, memory_info) that finds a stream capture open says Busy and does
// nothing; the allocator also asks may_make_helper_calls() first. allocate() and release() of pass-through memory are
// the program's own calls and always go through. So does release_idle(), which harms no capture.
#pragma once

#include <cstdint>

#include "shared/base/bytes.hpp"
#include "shared/base/result.hpp"
#include "shim/alloc/device_types.hpp"

namespace tidemark::alloc {

struct MemoryInfo {
  Bytes free;
  Bytes total;
};

// A mark in a context's work; 0 is none. Made by record_fence, ended by drop_fence or by is_fence_done saying true, and
// by nothing else, an error included.
enum class FenceToken : std::uint64_t {};

class Upstream {
 public:
  virtual ~Upstream() = default;

  // A real driver allocation of exactly `size` bytes (> 0) in `context`, aligned to 512 B at least.
  virtual Result<DevicePtr> allocate(ContextId context, Bytes size) noexcept = 0;

  // A real driver free of what allocate() returned. May wait for the device, for seconds.
  virtual Status release(ContextId context, DevicePtr ptr) noexcept = 0;

  // The same for a program that asked for a free in the order of a stream's work. Backends without such a call wait.
  virtual Status release_later(ContextId context, DevicePtr ptr, StreamHandle) noexcept {
    return release(context, ptr);
  }

  // The same for memory that the program already gave up. In a capture as well, and without invalidating any; Busy
  // where the driver has no way to that. Waits for the device's work as release() does, so that the program's frees
  // need no other fence.
  virtual Status release_idle(ContextId context, DevicePtr ptr) noexcept { return release(context, ptr); }

  // Returns when all work that was submitted to the device before the call is done. Its error is the device's own
  // (sticky) error and is what a native free would have returned.
  virtual Status wait_for_all_work(ContextId context) noexcept = 0;

  // The same without waiting, for backends that have an event over all of a context's work; others say Unsupported.
  virtual Result<FenceToken> record_fence(ContextId) noexcept { return Error{ErrorCode::Unsupported}; }
  virtual Result<bool> is_fence_done(ContextId, FenceToken) noexcept { return Error{ErrorCode::Unsupported}; }
  virtual void drop_fence(ContextId, FenceToken) noexcept {}

  // Sets every byte of a block that no device work uses, and returns when that is done: any stream may use the block
  // then. Waits for no work of the program's. A helper call; its error leaves the contents undefined.
  virtual Status fill(ContextId, DevicePtr, Bytes, unsigned char) noexcept { return Error{ErrorCode::Unsupported}; }
  [[nodiscard]] virtual bool can_fill() const noexcept { return false; }

  // The driver's own answer, without what the allocator holds.
  virtual Result<MemoryInfo> memory_info(ContextId context) noexcept = 0;

  // False while a call of ours could do harm (a stream capture is open): no wait, no fence and no trim then.
  [[nodiscard]] virtual bool may_make_helper_calls() const noexcept { return true; }
};

}  // namespace tidemark::alloc
