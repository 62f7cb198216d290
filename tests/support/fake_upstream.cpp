#include "tests/support/fake_upstream.hpp"

#include <algorithm>
#include <iterator>

namespace tidemark::test {

using alloc::ContextId;
using alloc::DevicePtr;
using alloc::FenceToken;
using alloc::MemoryInfo;

namespace {

constexpr Error kNotPermitted{ErrorCode::Refused, kFakeNotPermitted};

// A copy, because a hook may take itself away.
void run(const std::function<void()>& hook) {
  if (const std::function<void()> copy = hook; copy) {
    copy();
  }
}

}  // namespace

Result<DevicePtr> FakeUpstream::allocate(ContextId context, Bytes size) noexcept {
  run(before_allocate);
  const std::lock_guard guard(mutex_);
  if (refuses_) {
    ++calls_.refused_allocations;
    return kNotPermitted;
  }
  if (failing_allocations_ > 0) {
    --failing_allocations_;
    ++calls_.refused_allocations;
    return allocation_error_;
  }
  if (size.count() == 0 || size.count() > capacity_.count() - used_ - taken_) {
    ++calls_.refused_allocations;
    return size.count() == 0 ? Error{ErrorCode::InvalidValue, kFakeInvalidValue}
                             : Error{ErrorCode::OutOfMemory, kFakeOutOfMemory};
  }
  std::uint64_t place = base_;
  for (const auto& [address, allocation] : live_) {
    if (address - place >= size.count()) {
      break;
    }
    place = round_up(Bytes{address + allocation.size}, alignment_).count();
  }
  live_.emplace(place, Allocation{.size = size.count(), .context = context});
  used_ += size.count();
  ++calls_.allocations;
  return DevicePtr{place};
}

Status FakeUpstream::release(ContextId context, DevicePtr ptr) noexcept {
  run(before_release);
  const std::lock_guard guard(mutex_);
  if (refuses_) {
    return kNotPermitted;
  }
  if (failing_releases_ > 0) {
    --failing_releases_;
    return release_error_;
  }
  const auto found = live_.find(ptr.address());
  if (found == live_.end() || found->second.context != context) {
    ++calls_.refused_releases;
    return Error{ErrorCode::InvalidValue, kFakeInvalidValue};
  }
  used_ -= found->second.size;
  live_.erase(found);
  ++calls_.releases;
  finished_ = submitted_;  // a real free waits
  return {};
}

Status FakeUpstream::wait_for_all_work(ContextId) noexcept {
  run(before_wait);
  const std::lock_guard guard(mutex_);
  if (const auto error = refusal()) {
    return *error;
  }
  ++calls_.waits;
  finished_ = submitted_;
  return {};
}

Result<FenceToken> FakeUpstream::record_fence(ContextId) noexcept {
  const std::lock_guard guard(mutex_);
  if (!fences_supported_) {
    return Error{ErrorCode::Unsupported};
  }
  if (const auto error = refusal()) {
    return *error;
  }
  ++calls_.fences;
  ++calls_.open_fences;
  return FenceToken{submitted_ + 1};  // never 0
}

Result<bool> FakeUpstream::is_fence_done(ContextId, FenceToken token) noexcept {
  const std::lock_guard guard(mutex_);
  if (!fences_supported_) {
    return Error{ErrorCode::Unsupported};
  }
  if (const auto error = refusal()) {
    return *error;
  }
  const bool done = static_cast<std::uint64_t>(token) <= finished_ + 1;
  calls_.open_fences -= done ? 1 : 0;
  return done;
}

void FakeUpstream::drop_fence(ContextId, FenceToken) noexcept {
  const std::lock_guard guard(mutex_);
  --calls_.open_fences;
}

Status FakeUpstream::fill(ContextId context, DevicePtr ptr, Bytes size, unsigned char value) noexcept {
  run(before_fill);
  const std::lock_guard guard(mutex_);
  if (const auto error = refusal()) {
    return *error;
  }
  const auto next = live_.upper_bound(ptr.address());
  const bool is_inside = next != live_.begin() && std::prev(next)->second.context == context &&
                         ptr.address() + size.count() <= std::prev(next)->first + std::prev(next)->second.size;
  if (!is_inside) {
    return Error{ErrorCode::InvalidValue, kFakeInvalidValue};
  }
  fills_.push_back({.address = ptr.address(), .size = size.count(), .value = value});
  ++calls_.fills;
  return {};
}

Result<MemoryInfo> FakeUpstream::memory_info(ContextId) noexcept {
  const std::lock_guard guard(mutex_);
  if (refuses_) {
    return kNotPermitted;
  }
  if (broken_) {
    return *broken_;
  }
  return MemoryInfo{.free = Bytes{capacity_.count() - used_ - taken_}, .total = capacity_};
}

bool FakeUpstream::may_make_helper_calls() const noexcept {
  const std::lock_guard guard(mutex_);
  return captures_ == 0;
}

std::optional<Error> FakeUpstream::refusal() noexcept {
  if (captures_ != 0) {
    ++calls_.helper_calls_in_capture;
    return Error{ErrorCode::Busy};
  }
  return refuses_ ? kNotPermitted : broken_;
}

void FakeUpstream::submit_work() {
  const std::lock_guard guard(mutex_);
  ++submitted_;
}

void FakeUpstream::finish_work() {
  const std::lock_guard guard(mutex_);
  finished_ = submitted_;
}

bool FakeUpstream::is_idle() const {
  const std::lock_guard guard(mutex_);
  return finished_ == submitted_;
}

void FakeUpstream::begin_capture() {
  const std::lock_guard guard(mutex_);
  ++captures_;
}

void FakeUpstream::end_capture() {
  const std::lock_guard guard(mutex_);
  --captures_;
}

void FakeUpstream::refuse_calls(bool refuse) {
  const std::lock_guard guard(mutex_);
  refuses_ = refuse;
}

void FakeUpstream::support_fences(bool supported) {
  const std::lock_guard guard(mutex_);
  fences_supported_ = supported;
}

void FakeUpstream::take_memory(Bytes size) {
  const std::lock_guard guard(mutex_);
  taken_ += size.count();
}

void FakeUpstream::fail_allocations(unsigned count, Error error) {
  const std::lock_guard guard(mutex_);
  failing_allocations_ = count;
  allocation_error_ = error;
}

void FakeUpstream::fail_releases(unsigned count, Error error) {
  const std::lock_guard guard(mutex_);
  failing_releases_ = count;
  release_error_ = error;
}

void FakeUpstream::break_device(Error error) {
  const std::lock_guard guard(mutex_);
  broken_ = error;
}

void FakeUpstream::heal_device() {
  const std::lock_guard guard(mutex_);
  broken_.reset();
}

void FakeUpstream::destroy_context(ContextId context) {
  const std::lock_guard guard(mutex_);
  for (auto it = live_.begin(); it != live_.end();) {
    if (it->second.context == context) {
      used_ -= it->second.size;
      it = live_.erase(it);
    } else {
      ++it;
    }
  }
}

void FakeUpstream::vanish(DevicePtr ptr) {
  const std::lock_guard guard(mutex_);
  const auto found = live_.find(ptr.address());
  used_ -= found->second.size;
  live_.erase(found);
}

FakeUpstream::Calls FakeUpstream::calls() const {
  const std::lock_guard guard(mutex_);
  return calls_;
}

Bytes FakeUpstream::used() const {
  const std::lock_guard guard(mutex_);
  return Bytes{used_};
}

std::size_t FakeUpstream::live() const {
  const std::lock_guard guard(mutex_);
  return live_.size();
}

std::optional<unsigned char> FakeUpstream::byte_at(DevicePtr ptr) const {
  const std::lock_guard guard(mutex_);
  const auto newest = std::find_if(fills_.rbegin(), fills_.rend(), [&](const Filled& filled) {
    return ptr.address() >= filled.address && ptr.address() - filled.address < filled.size;
  });
  return newest == fills_.rend() ? std::nullopt : std::optional{newest->value};
}

std::optional<Bytes> FakeUpstream::size_at(DevicePtr ptr) const {
  const std::lock_guard guard(mutex_);
  const auto found = live_.find(ptr.address());
  return found == live_.end() ? std::nullopt : std::optional{Bytes{found->second.size}};
}

}  // namespace tidemark::test
