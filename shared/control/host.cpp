#include "shared/control/host.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <ctime>
#include <optional>
#include <span>

#include "shared/base/spin_guard.hpp"
#include "shared/control/policy.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::control {
namespace {

using segment::AckStatus;
using segment::clock_ns;
using segment::ControlPolicy;

constexpr std::uint64_t kPollIntervalNs = 1'000'000;

timespec to_timespec(std::uint64_t duration_ns) {
  return {.tv_sec = static_cast<time_t>(duration_ns / 1'000'000'000),
          .tv_nsec = static_cast<long>(duration_ns % 1'000'000'000)};
}

long futex(const void* address, int operation, std::uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, address, operation, value, timeout, nullptr, 0);
}

bool is_final(AckStatus status) {
  return status != AckStatus::None && status != AckStatus::Running && status != AckStatus::Deferred;
}

Answer refusal(AckStatus status, std::string_view detail) {
  return {.status = status, .detail = detail, .results = {}};
}

}  // namespace

ControlHost::ControlHost(segment::SegmentWriter& writer, RequestHandler& handler, ControlPolicy policy) noexcept
    : writer_(writer), handler_(handler), policy_(policy), open_(writer.control_address() != nullptr) {
  writer_.set_control_policy(is_open() ? policy_ : ControlPolicy::Off);
}

bool ControlHost::is_open() const noexcept { return open_.load(std::memory_order_relaxed); }

bool ControlHost::wait(std::chrono::nanoseconds timeout) noexcept {
  const std::uint64_t since_poll = clock_ns(CLOCK_MONOTONIC) - last_poll_ns_.load(std::memory_order_relaxed);
  if (since_poll < kPollIntervalNs) {
    const timespec pause = to_timespec(kPollIntervalNs - since_poll);
    ::nanosleep(&pause, nullptr);
  }
  const timespec limit = to_timespec(static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.count(), 0)));
  if (is_open() && !blind_.load(std::memory_order_relaxed)) {
    const auto* bell = static_cast<const std::byte*>(writer_.control_address()) + offsetof(ControlImage, head) +
                       offsetof(ControlHead, bell);
    // Only the kernel looks at the address; a page that was cut off is an EFAULT.
    const bool is_woken = futex(bell, FUTEX_WAIT, bell_seen_.load(std::memory_order_relaxed), &limit) == 0;
    if (is_woken || errno != EFAULT) {
      return is_woken || errno != ETIMEDOUT;
    }
  }
  futex(&wakes_, FUTEX_WAIT_PRIVATE, wakes_.load(std::memory_order_relaxed), &limit);
  return true;  // the bell could not be waited for: look
}

void ControlHost::wake() noexcept {
  wakes_.fetch_add(1, std::memory_order_relaxed);
  futex(&wakes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
  if (writer_.control_address() != nullptr) {
    const auto* bell = static_cast<const std::byte*>(writer_.control_address()) + offsetof(ControlHead, bell);
    futex(bell, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

bool ControlHost::read_image() noexcept {
  if (const Status checked = writer_.check_control(); !checked) {
    // A file that is not ours any more never becomes ours again.
    if (checked.error().code != ErrorCode::System) {
      close();
    }
    return false;
  }
  // The bell before the slots: a request that is posted after our look has then changed it, and wait() returns at once.
  std::uint32_t bell = 0;
  if (!writer_.read_control(std::as_writable_bytes(std::span{&bell, 1}), offsetof(ControlHead, bell))) {
    return false;
  }
  segment::fence_after_words();
  bell_seen_.store(bell, std::memory_order_relaxed);
  return writer_.read_control(std::as_writable_bytes(std::span{&image_, 1}), 0).ok();
}

void ControlHost::close() noexcept {
  open_.store(false, std::memory_order_relaxed);
  writer_.set_control_policy(ControlPolicy::Off);
  writer_.set_flag(segment::ProcessFlag::ControlClosed, true);
}

std::size_t ControlHost::poll() noexcept {
  if (polls_.test_and_set(std::memory_order_acquire)) {
    return 0;
  }
  const std::size_t taken = poll_alone();
  polls_.clear(std::memory_order_release);
  return taken;
}

std::size_t ControlHost::poll_alone() noexcept {
  last_poll_ns_.store(clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
  const bool is_read = is_open() && read_image();
  blind_.store(!is_read, std::memory_order_relaxed);
  if (!is_read) {
    return 0;
  }
  std::size_t taken = 0;
  for (std::uint32_t slot = 0; slot < kRequestSlots; ++slot) {
    if (image_.slots[slot].ticket != 0 && take(slot, image_.slots[slot])) {
      ++taken;
    }
  }
  return taken;
}

// True if the record was a request that had not been seen before.
bool ControlHost::take(std::uint32_t slot, const RequestRecord& record) noexcept {
  SlotState before;
  Request request{.slot = slot,
                  .ticket = record.ticket,
                  .operation = static_cast<Operation>(record.operation),
                  .device = record.device,
                  .arguments = record.arguments,
                  .client_pid = record.client_pid};
  {
    const SpinGuard guard{lock_};
    SlotState& state = slots_[slot];
    const std::uint64_t last = state.request.ticket;
    const bool is_whole = record.checksum == checksum_of(record);
    if (is_whole && record.ticket == last) {
      return false;
    }
    if (!is_whole || record.ticket < last || record.ticket - last > kMaxTicketJump) {
      if (record.checksum != state.ignored_checksum) {
        state.ignored_checksum = record.checksum;
        ++tally_.ignored;
        writer_.set_request_counts(tally_.done, tally_.refused, tally_.ignored);
      }
      return false;
    }
    before = state;
    // Before it runs: whatever happens then, it doesn't run a second time.
    state.request = request;
    state.status = AckStatus::Running;
  }
  if (request.operation == Operation::Nop) {
    acknowledge(request, withdraw(request, before));
  } else {
    acknowledge(request, run(request, record.awaited != 0));
  }
  return true;
}

Answer ControlHost::run(const Request& request, bool is_awaited) noexcept {
  if (static_cast<std::uint32_t>(request.operation) >= kOperations) {
    return refusal(AckStatus::Refused, "the process doesn't know this request");
  }
  if (request.device != kAllDevices && request.device >= segment::kDeviceSlots) {
    return refusal(AckStatus::Invalid, "no such device");
  }
  if (!is_allowed(policy_, request.operation)) {
    return refusal(AckStatus::Refused, policy_ == ControlPolicy::Peaks
                                           ? "the process allows peak resets only (TIDEMARK_CONTROL=peaks)"
                                           : "the process allows no requests (TIDEMARK_CONTROL=off)");
  }
  if (is_awaited && has_viewer_left(request.slot)) {
    return refusal(AckStatus::Refused, "its viewer was gone before the process saw it");
  }
  // A viewer that gives up now learns that it has begun.
  segment::Acknowledgement running;
  running.ticket = request.ticket;
  running.status = AckStatus::Running;
  running.operation = static_cast<std::uint32_t>(request.operation);
  writer_.acknowledge(request.slot, running);

  Answer answer = handler_.handle(request);
  if (answer.status == AckStatus::None || answer.status == AckStatus::Running) {
    answer.status = AckStatus::Failed;
  }
  return answer;
}

// Where that cannot be told (no descriptor left, or no right to open the file), the viewer is taken to wait.
bool ControlHost::has_viewer_left(std::uint32_t slot) noexcept {
  const std::optional<bool> locked = writer_.is_control_locked(kSlotLockOffset + slot);
  return locked.has_value() && !*locked;
}

// Says Superseded if the request in arguments[0] has not run and never will; otherwise Done, and in results[0] what
// became of it.
Answer ControlHost::withdraw(const Request& nop, const SlotState& before) noexcept {
  const std::uint64_t unwanted = nop.arguments[0];
  Answer answer;
  if (unwanted == 0 || before.request.ticket > unwanted) {
    return answer;
  }
  const bool is_untouched = before.request.ticket < unwanted;
  if (is_untouched || (before.status == AckStatus::Deferred && handler_.withdraw(before.request))) {
    answer.status = AckStatus::Superseded;
  } else {
    answer.results[0] = static_cast<std::uint64_t>(before.status);
  }
  return answer;
}

void ControlHost::complete(const Request& request, const Answer& answer) noexcept { acknowledge(request, answer); }

void ControlHost::acknowledge(const Request& request, const Answer& answer) noexcept {
  const SpinGuard guard{lock_};
  SlotState& state = slots_[request.slot];
  // A newer request has the slot, or complete() was faster than the handler's own "deferred".
  if (state.request.ticket != request.ticket || is_final(state.status)) {
    return;
  }
  state.status = answer.status;
  if (answer.status == AckStatus::Done) {
    ++tally_.done;
  } else if (is_final(answer.status) && answer.status != AckStatus::Superseded) {
    ++tally_.refused;
  }
  // Counts first: who has seen the acknowledgement sees it counted.
  writer_.set_request_counts(tally_.done, tally_.refused, tally_.ignored);
  segment::Acknowledgement acknowledgement;
  acknowledgement.ticket = request.ticket;
  acknowledgement.status = answer.status;
  acknowledgement.operation = static_cast<std::uint32_t>(request.operation);
  acknowledgement.results = answer.results;
  acknowledgement.detail = answer.detail;
  writer_.acknowledge(request.slot, acknowledgement);
}

}  // namespace tidemark::control
