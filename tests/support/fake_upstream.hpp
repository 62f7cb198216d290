// A driver to test the allocator with: it has memory, work that is done when the test says so, captures, faults on
// demand, and it keeps account of every call. As strict as the real one: a double or interior free is an error, and so
// is a free of live work.
//
// Memory: the lowest free addresses from `base` on, in steps of 512 B, so that addresses come back as soon as they can;
// an allocation fails when the sum of sizes would pass `capacity`. Threads: any. Hooks are called before their call
// does anything, without a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "shared/base/bytes.hpp"
#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"

namespace tidemark::test {

inline constexpr alloc::ContextId kContext{1};
inline constexpr int kFakeOutOfMemory = 2;
inline constexpr int kFakeInvalidValue = 1;
inline constexpr int kFakeSticky = 700;
inline constexpr int kFakeNotPermitted = 800;

class FakeUpstream final : public alloc::Upstream {
 public:
  explicit FakeUpstream(Bytes capacity = 64_GiB, std::uint64_t base = 0x7000'0000'0000, Bytes alignment = 512_B)
      : capacity_(capacity), base_(base), alignment_(alignment) {}

  Result<alloc::DevicePtr> allocate(alloc::ContextId context, Bytes size) noexcept override;
  Status release(alloc::ContextId context, alloc::DevicePtr ptr) noexcept override;
  Status wait_for_all_work(alloc::ContextId context) noexcept override;
  Result<alloc::FenceToken> record_fence(alloc::ContextId context) noexcept override;
  Result<bool> is_fence_done(alloc::ContextId context, alloc::FenceToken token) noexcept override;
  void drop_fence(alloc::ContextId context, alloc::FenceToken token) noexcept override;
  Status fill(alloc::ContextId context, alloc::DevicePtr ptr, Bytes size, unsigned char value) noexcept override;
  [[nodiscard]] bool can_fill() const noexcept override { return true; }
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId context) noexcept override;
  [[nodiscard]] bool may_make_helper_calls() const noexcept override;

  // What happens on the device

  // Work that is not done until finish_work(), or a wait.
  void submit_work();
  void finish_work();
  [[nodiscard]] bool is_idle() const;

  void begin_capture();
  void end_capture();

  // From now on every call fails, as all do inside a host function of a stream.
  void refuse_calls(bool refuse);

  // What goes wrong

  void support_fences(bool supported);
  void take_memory(Bytes size);  // another process does
  void fail_allocations(unsigned count, Error error = {ErrorCode::OutOfMemory, kFakeOutOfMemory});
  void fail_releases(unsigned count, Error error = {ErrorCode::DriverFailure, kFakeSticky});
  // From now on every wait and fence fails, as after a kernel's fault.
  void break_device(Error error = {ErrorCode::DriverFailure, kFakeSticky});
  void heal_device();
  // All memory of the context is gone, as after its destruction.
  void destroy_context(alloc::ContextId context);
  // Frees behind everybody's back.
  void vanish(alloc::DevicePtr ptr);

  // What was called

  struct Calls {
    unsigned allocations = 0;  // successful ones
    unsigned refused_allocations = 0;
    unsigned releases = 0;
    unsigned refused_releases = 0;  // those that were an error of the caller
    unsigned waits = 0;
    unsigned fences = 0;
    unsigned open_fences = 0;
    unsigned helper_calls_in_capture = 0;
    unsigned fills = 0;
  };
  [[nodiscard]] Calls calls() const;
  [[nodiscard]] Bytes used() const;
  [[nodiscard]] std::size_t live() const;
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  // What the last fill over an address wrote there; nullopt: none did.
  [[nodiscard]] std::optional<unsigned char> byte_at(alloc::DevicePtr ptr) const;
  // The size of the allocation that begins there; nullopt: none.
  [[nodiscard]] std::optional<Bytes> size_at(alloc::DevicePtr ptr) const;

  std::function<void()> before_allocate;
  std::function<void()> before_release;
  std::function<void()> before_wait;
  std::function<void()> before_fill;

 private:
  struct Allocation {
    std::uint64_t size;
    alloc::ContextId context;
  };

  struct Filled {
    std::uint64_t address;
    std::uint64_t size;
    unsigned char value;
  };

  [[nodiscard]] std::optional<Error> refusal() noexcept;  // of a helper call

  const Bytes capacity_;
  const std::uint64_t base_;
  const Bytes alignment_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> live_;
  std::vector<Filled> fills_;  // the newest last
  std::uint64_t used_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t finished_ = 0;
  unsigned captures_ = 0;
  bool refuses_ = false;
  bool fences_supported_ = true;
  unsigned failing_allocations_ = 0;
  Error allocation_error_{};
  unsigned failing_releases_ = 0;
  Error release_error_{};
  std::optional<Error> broken_;
  Calls calls_;
};

}  // namespace tidemark::test
