// The host process's side of control: sees requests, checks them, has them done, acknowledges.
//
// Never dereferences the control file: it waits with futex(2) through a read-only mapping, and has the kernel copy from
// it into private memory. Truncated, garbled or replaced files cost requests, never the process. Threads: poll() and
// complete() from any thread (one private lock; not held while the handler runs); wait() from one. No allocation, no
// exception.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "shared/control/layout.hpp"
#include "shared/segment/process_words.hpp"
#include "shared/segment/text.hpp"
#include "shared/segment/writer.hpp"

namespace tidemark::control {

// A request that passed every check of form: known operation, device in range or kAllDevices, still wanted, allowed by
// policy.
struct Request {
  std::uint32_t slot = 0;
  std::uint64_t ticket = 0;
  Operation operation = Operation::Nop;
  std::uint32_t device = kAllDevices;
  std::array<std::uint64_t, 4> arguments{};
  std::uint32_t client_pid = 0;  // information only
};

struct Answer {
  segment::AckStatus status = segment::AckStatus::Done;  // Done, Deferred, Refused, Invalid or Failed
  segment::Text<128> detail;
  std::array<std::uint64_t, segment::kAckResults> results{};
};

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  // Runs in the thread that called poll(), one request of that poll() after the other; where several threads poll,
  // requests of different slots overlap. Deferred: the handler has kept the request and calls ControlHost::complete()
  // with it later, from any thread. Ping is answered here too (the answer reaches the viewer).
  virtual Answer handle(const Request& request) noexcept = 0;

  // The viewer no longer wants a deferred request. True: it has been dropped and will not run.
  virtual bool withdraw(const Request& /*request*/) noexcept { return false; }
};

class ControlHost {
 public:
  // Requires: `writer` and `handler` outlive this. `policy` is published in the segment.
  ControlHost(segment::SegmentWriter& writer, RequestHandler& handler, segment::ControlPolicy policy) noexcept;
  ControlHost(const ControlHost&) = delete;
  ControlHost& operator=(const ControlHost&) = delete;

  // Returns when a viewer rings, after `timeout`, or for no reason; never sooner than a millisecond after the last
  // poll() began, so that nobody can make the host spin. False: the time is over and nobody rang, so there is nothing
  // to poll() for.
  bool wait(std::chrono::nanoseconds timeout) noexcept;
  // Ends a wait() under way.
  void wake() noexcept;

  // Looks once at all slots and has new requests done. Returns how many were taken; 0 also while another thread is at
  // it. About 3 us when there is none.
  std::size_t poll() noexcept;

  // The end of a deferred request. Without effect if its slot has a newer one.
  void complete(const Request& request, const Answer& answer) noexcept;

  // False: no control file; or it was removed or replaced, its owner or mode changed, or it is out of reach (the
  // process changed its root). That is for good, and ProcessFlag::ControlClosed says so to
  // viewers.
  [[nodiscard]] bool is_open() const noexcept;

 private:
  struct SlotState {
    Request request;  // the last one that was taken; its ticket is the slot's
    segment::AckStatus status = segment::AckStatus::None;
    std::uint64_t ignored_checksum = 0;  // of what was last counted as ignored, so that it counts once
  };
  struct Tally {
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::uint64_t ignored = 0;
  };

  std::size_t poll_alone() noexcept;
  bool read_image() noexcept;
  bool take(std::uint32_t slot, const RequestRecord& record) noexcept;
  [[nodiscard]] Answer run(const Request& request, bool is_awaited) noexcept;
  [[nodiscard]] bool has_viewer_left(std::uint32_t slot) noexcept;
  [[nodiscard]] Answer withdraw(const Request& nop, const SlotState& before) noexcept;
  void acknowledge(const Request& request, const Answer& answer) noexcept;
  void close() noexcept;

  segment::SegmentWriter& writer_;
  RequestHandler& handler_;
  segment::ControlPolicy policy_;
  std::atomic<bool> open_;
  std::atomic<bool> blind_{false};           // the file could not be read: don't wait for its bell
  std::atomic<std::uint32_t> bell_seen_{0};  // before the last look at the slots
  std::atomic<std::uint32_t> wakes_{0};      // what wait() waits for without a control file
  std::atomic<std::uint64_t> last_poll_ns_{0};
  std::atomic_flag polls_;
  ControlImage image_{};  // of the thread that polls: it may be the program's, with little stack
  std::atomic_flag
      lock_;  // held for a few stores; the handler runs without it, so complete() may be called from inside
  std::array<SlotState, kRequestSlots> slots_{};
  Tally tally_;
};

}  // namespace tidemark::control
