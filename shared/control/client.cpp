#include "shared/control/client.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <ctime>
#include <span>
#include <utility>

#include "shared/control/control_file.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::control {
namespace {

using segment::AckStatus;
using segment::clock_ns;

// How often a waiting viewer looks whether the process still lives.
constexpr std::chrono::nanoseconds kLookInterval = std::chrono::milliseconds{50};
// One flag is asked for: it needs no consistent record.
constexpr segment::ReadBudget kFlagBudget{.still_ns = 0, .busy_ns = 0, .tries_before_sleep = 8};

std::uint64_t slot_offset(std::uint32_t slot) {
  return offsetof(ControlImage, slots) + std::uint64_t{slot} * sizeof(RequestRecord);
}

bool write_exactly(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  ssize_t wrote = 0;
  do {
    wrote = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  } while (wrote < 0 && errno == EINTR);
  return wrote == static_cast<ssize_t>(bytes.size());
}

// How often a viewer that found no slot looks again: nobody tells when a lock is gone.
constexpr std::chrono::nanoseconds kSlotInterval = std::chrono::milliseconds{10};

// The first slot that no other viewer holds.
Result<std::uint32_t> claim_free_slot(int fd) {
  for (std::uint32_t slot = 0; slot < kRequestSlots; ++slot) {
    struct flock claim {};
    claim.l_type = F_WRLCK;
    claim.l_whence = SEEK_SET;
    claim.l_start = static_cast<off_t>(kSlotLockOffset + slot);
    claim.l_len = 1;
    if (::fcntl(fd, F_OFD_SETLK, &claim) == 0) {
      return slot;
    }
    if (errno != EAGAIN && errno != EACCES) {
      return segment::system_error(errno);
    }
  }
  return Error{ErrorCode::Timeout};
}

Result<std::uint32_t> claim_slot(int fd, const segment::SegmentReader& reader, std::chrono::nanoseconds patience) {
  const std::uint64_t end =
      clock_ns(CLOCK_MONOTONIC) + static_cast<std::uint64_t>(std::max<std::int64_t>(patience.count(), 0));
  for (;;) {
    Result<std::uint32_t> slot = claim_free_slot(fd);
    if (slot || slot.error().code != ErrorCode::Timeout || !reader.is_owner_alive() ||
        clock_ns(CLOCK_MONOTONIC) >= end) {
      return slot;
    }
    const timespec interval{.tv_sec = 0, .tv_nsec = kSlotInterval.count()};
    ::nanosleep(&interval, nullptr);
  }
}

// Any other value wakes the host; two viewers that ring at once mustn't write the same one, which counting could do.
std::uint32_t random_bell() {
  std::uint32_t bell = 0;
  if (::getrandom(&bell, sizeof bell, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bell)) {
    bell = static_cast<std::uint32_t>(clock_ns(CLOCK_MONOTONIC) * 0x9E3779B97F4A7C15 >> 32);
  }
  return bell;
}

OutcomeKind kind_of(AckStatus status) {
  switch (status) {
    case AckStatus::Done:
      return OutcomeKind::Done;
    case AckStatus::Deferred:
      return OutcomeKind::Deferred;
    case AckStatus::Superseded:
      return OutcomeKind::Timeout;
    case AckStatus::Refused:
    case AckStatus::Invalid:
    case AckStatus::Failed:
      return OutcomeKind::Refused;
    default:
      return OutcomeKind::Indeterminate;
  }
}

bool is_final(AckStatus status) {
  return status != AckStatus::Deferred && kind_of(status) != OutcomeKind::Indeterminate;
}

Outcome outcome_of(const segment::Acknowledgement& ack) {
  return {.kind = kind_of(ack.status),
          .status = ack.status,
          .detail = std::string{ack.detail.view()},
          .results = ack.results};
}

Outcome outcome(OutcomeKind kind, std::string detail) {
  return {.kind = kind, .status = AckStatus::None, .detail = std::move(detail), .results = {}};
}

}  // namespace

const char* to_text(OutcomeKind kind) noexcept {
  switch (kind) {
    case OutcomeKind::Done:
      return "done";
    case OutcomeKind::Deferred:
      return "deferred";
    case OutcomeKind::Refused:
      return "refused";
    case OutcomeKind::Timeout:
      return "timeout";
    case OutcomeKind::Gone:
      return "gone";
    case OutcomeKind::Closed:
      return "closed";
    case OutcomeKind::Indeterminate:
      return "indeterminate";
  }
  return "?";
}

Result<ControlClient> ControlClient::open(const segment::SegmentReader& reader, std::chrono::nanoseconds patience) {
  Result<segment::FileHandle> opened = open_control_file(reader, O_RDWR);
  if (!opened) {
    return opened.error();
  }
  segment::FileHandle file = std::move(opened).value();
  Result<segment::Mapping> bell_page = segment::Mapping::of(file.get(), segment::MapMode::ReadOnly, kControlBytes);
  if (!bell_page) {
    return bell_page.error();
  }
  const Result<std::uint32_t> slot = claim_slot(file.get(), reader, patience);
  if (!slot) {
    return slot.error();
  }
  return ControlClient{reader, std::move(file), std::move(bell_page).value(), slot.value()};
}

ControlClient::ControlClient(const segment::SegmentReader& reader, segment::FileHandle file, segment::Mapping bell_page,
                             std::uint32_t slot) noexcept
    : reader_(&reader), file_(std::move(file)), bell_page_(std::move(bell_page)), slot_(slot) {}

Outcome ControlClient::request(const Order& order, std::chrono::nanoseconds timeout) {
  if (const Status posted = post(order); !posted) {
    return reader_->is_owner_alive() ? outcome(OutcomeKind::Timeout, "the request could not be posted")
                                     : outcome(OutcomeKind::Gone, {});
  }
  return wait(timeout);
}

Status ControlClient::post(const Order& order) {
  RequestRecord record;
  record.operation = static_cast<std::uint32_t>(order.operation);
  record.device = order.device;
  record.arguments = order.arguments;
  record.awaited = order.may_run_later ? 0 : kAwaited;
  order_ = order;
  return write_request(record);
}

// Gives the record the slot's next ticket, writes it and rings.
Status ControlClient::write_request(RequestRecord record) {
  const Result<segment::Acknowledgement> ack = reader_->acknowledgement(slot_);
  if (!ack) {
    return ack.error();
  }
  RequestRecord former;
  const bool is_read =
      segment::read_exactly(file_.get(), std::as_writable_bytes(std::span{&former, 1}), slot_offset(slot_));
  // What a viewer before us posted may not have been seen yet. Anything implausible is damage: the host's word counts.
  const std::uint64_t acknowledged = ack.value().ticket;
  const bool is_whole = is_read && former.checksum == checksum_of(former);
  const bool is_unused = is_read && acknowledged == 0 && former.ticket == 0 && former.checksum == 0;
  std::uint64_t last = acknowledged;
  if (is_whole && former.ticket > acknowledged && former.ticket - acknowledged < kMaxTicketJump) {
    last = former.ticket;
  } else if (!is_whole && !is_unused && ticket_ == 0) {
    // A request that stood here may be in the host's hands already, under a number that can't be seen any more, most
    // likely the next. Its answer is not to be taken for ours.
    last += 1 + random_bell() % (kMaxTicketJump / 2);
  }
  record.ticket = std::max(last, ticket_) + 1;
  record.client_pid = static_cast<std::uint32_t>(::getpid());
  record.client_uid = ::getuid();
  record.checksum = checksum_of(record);
  const std::uint32_t bell = random_bell();
  if (!write_exactly(file_.get(), std::as_bytes(std::span{&record, 1}), slot_offset(slot_)) ||
      !write_exactly(file_.get(), std::as_bytes(std::span{&bell, 1}), offsetof(ControlHead, bell))) {
    return segment::system_error(errno);
  }
  ticket_ = record.ticket;
  ::syscall(SYS_futex, bell_page_.address() + offsetof(ControlHead, bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return {};
}

// The last acknowledgement of `ticket` that came in time; ends early with a final one, with the process, or when the
// process says that it reads no requests any more.
ControlClient::Waited ControlClient::wait_for(std::uint64_t ticket, std::chrono::nanoseconds timeout) const {
  const std::uint64_t end =
      clock_ns(CLOCK_MONOTONIC) + static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.count(), 0));
  for (;;) {
    Waited waited;
    // In this order: a process that acknowledges and ends in between has been seen alive or has acknowledged.
    waited.is_alive = reader_->is_owner_alive();
    const bool is_closed = reader_->globals(kFlagBudget).has(segment::ProcessFlag::ControlClosed);
    const std::uint32_t bell = reader_->ack_bell();
    if (const auto ack = reader_->acknowledgement(slot_); ack && ack.value().ticket == ticket) {
      waited.ack = ack.value();
    }
    // What it has begun or parked it still ends, without the file.
    waited.is_closed = is_closed && waited.ack.status == AckStatus::None;
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    if (is_final(waited.ack.status) || !waited.is_alive || waited.is_closed || now >= end) {
      return waited;
    }
    const std::chrono::nanoseconds rest{static_cast<std::int64_t>(end - now)};
    reader_->wait_for_bell(bell, std::min(rest, kLookInterval));
  }
}

Outcome ControlClient::wait(std::chrono::nanoseconds timeout) {
  const Waited waited = wait_for(ticket_, timeout);
  if (is_final(waited.ack.status)) {
    return outcome_of(waited.ack);
  }
  if (!waited.is_alive) {
    return outcome(OutcomeKind::Gone, {});
  }
  if (waited.ack.status == AckStatus::Deferred) {
    return outcome_of(waited.ack);
  }
  if (waited.is_closed) {
    return outcome(OutcomeKind::Closed, {});
  }
  if (order_.may_run_later) {
    return outcome(OutcomeKind::Deferred, "the process has not looked at it yet");
  }
  return cancel();
}

Outcome ControlClient::cancel(std::chrono::nanoseconds timeout) {
  const std::uint64_t unwanted = ticket_;
  RequestRecord nop;
  nop.operation = static_cast<std::uint32_t>(Operation::Nop);
  nop.arguments[0] = unwanted;
  if (const Status posted = write_request(nop); !posted) {
    return unanswered(unwanted);
  }
  const Waited waited = wait_for(ticket_, timeout);
  if (waited.ack.status == AckStatus::Superseded) {
    return outcome(OutcomeKind::Timeout, "not begun in time, and withdrawn");
  }
  if (waited.ack.status == AckStatus::Done) {
    // Too late to withdraw: the host says what became of it.
    segment::Acknowledgement former;
    former.status = static_cast<AckStatus>(waited.ack.results[0]);
    return outcome_of(former);
  }
  return unanswered(unwanted);
}

Outcome ControlClient::unanswered(std::uint64_t ticket) const {
  const Waited last = wait_for(ticket, std::chrono::nanoseconds{0});
  if (is_final(last.ack.status)) {
    return outcome_of(last.ack);
  }
  if (!last.is_alive) {
    return outcome(OutcomeKind::Gone, {});
  }
  const char* begun = last.ack.status == AckStatus::Running ? "begun, not finished" : "withdrawn, unless it had begun";
  return outcome(OutcomeKind::Indeterminate, reader_->state() == segment::ProcessState::Stopped
                                                 ? std::string{"the process is stopped; "} + begun
                                                 : std::string{"the process does not answer; "} + begun);
}

}  // namespace tidemark::control
