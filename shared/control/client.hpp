// A viewer's side of control: posts one request at a time and waits for its end.
//
// Threads: one at a time for each client. A slot is held from open() to destruction; 31 viewers at once per process,
// and the next waits in open() for one of them to end.
// Errors of open(): NotFound (no control file: the process exited, it was removed, or TIDEMARK_CONTROL=off),
// PermissionDenied (another user's process), BadFormat (damaged, replaced, or of another segment), WrongVersion,
// Timeout (all slots taken for as long as the caller had patience), System. obstacle.hpp tells more about why.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "shared/base/result.hpp"
#include "shared/control/layout.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/process_words.hpp"
#include "shared/segment/reader.hpp"

namespace tidemark::control {

enum class OutcomeKind {
  Done,
  Deferred,       // still parked in the process when time was up; it stays there
  Refused,        // also Invalid and Failed; `status` tells
  Timeout,        // not begun in time, and withdrawn: it will not run
  Gone,           // the process ended first
  Closed,         // the process can't read requests any more (ProcessFlag::ControlClosed); it will not run
  Indeterminate,  // time was up and the process doesn't answer: it may or may not run
};
[[nodiscard]] const char* to_text(OutcomeKind kind) noexcept;  // "done", "deferred", "refused", ...

struct Outcome {
  OutcomeKind kind = OutcomeKind::Done;
  segment::AckStatus status = segment::AckStatus::None;  // the process's last word, if it said one
  std::string detail;                                    // cleaned text, maybe empty
  std::array<std::uint64_t, segment::kAckResults> results{};
};

struct Order {
  Operation operation = Operation::Ping;
  std::uint32_t device = kAllDevices;  // DeviceSnapshot::slot
  std::array<std::uint64_t, 4> arguments{};
  // A request that was not begun in time is withdrawn, and not begun after its client is destroyed. True: it stays
  // posted, and the caller doesn't care when it runs (`empty-cache --timeout 0`).
  bool may_run_later = false;
};

class ControlClient {
 public:
  // Requires: `reader` outlives the client.
  [[nodiscard]] static Result<ControlClient> open(const segment::SegmentReader& reader,
                                                  std::chrono::nanoseconds patience = std::chrono::nanoseconds{0});

  // Posts and waits. A stopped process (SIGSTOP, debugger) is waited for like a busy one; `detail` says that it is
  // stopped.
  [[nodiscard]] Outcome request(const Order& order, std::chrono::nanoseconds timeout = std::chrono::seconds{2});

  // The two halves of request(), for a caller that has other things to do. One request at a time.
  [[nodiscard]] Status post(const Order& order);
  [[nodiscard]] Outcome wait(std::chrono::nanoseconds timeout);

  // Withdraws what was posted. Timeout in the outcome: it did not and will not run.
  [[nodiscard]] Outcome cancel(std::chrono::nanoseconds timeout = std::chrono::milliseconds{250});

  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }

 private:
  struct Waited {
    segment::Acknowledgement ack;  // status None: it did not come
    bool is_alive = false;
    bool is_closed = false;  // there will be none
  };

  ControlClient(const segment::SegmentReader& reader, segment::FileHandle file, segment::Mapping bell_page,
                std::uint32_t slot) noexcept;
  Status write_request(RequestRecord record);
  [[nodiscard]] Waited wait_for(std::uint64_t ticket, std::chrono::nanoseconds timeout) const;
  [[nodiscard]] Outcome unanswered(std::uint64_t ticket) const;

  const segment::SegmentReader* reader_;
  segment::FileHandle file_;
  segment::Mapping bell_page_;  // for futex(2) alone, never dereferenced
  std::uint32_t slot_;
  std::uint64_t ticket_ = 0;
  Order order_;
};

}  // namespace tidemark::control
