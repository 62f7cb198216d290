// Streams, events and the virtual clock of all devices of a process.
//
// Work of one stream completes in order. A piece of work gets its end when it is submitted: the latest end of what it
// waits for, or now, plus its duration. It completes when the clock passes that end, or when somebody waits for it. A
// wait completes what it waits for *before* anything else and then moves the clock there: other streams are always as
// late as they may be, so a missing synchronisation shows in every run and not in one of a thousand.
//
// Legacy default stream, as CUDA has it: its work waits for all earlier work of the context's blocking streams, and
// theirs for all earlier work of the default stream. Non-blocking streams take no part.
//
// Host functions run one at a time on a thread of their own, started with the first. With the automatic clock they run
// even if the program makes no more calls (after 2 ms without any); with the manual clock they wait for the clock or a
// wait.
//
// Any thread may call; one mutex, not held while a host function runs. With nothing pending, synchronising is one load.
// Functions may throw std::bad_alloc and leave everything as it was.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "simulator/core/status.hpp"
#include "simulator/core/work.hpp"

namespace sim {

enum class ClockMode {
  Auto,    // each driver call is a tick
  Manual,  // only waits and advance() move the clock
};

enum class StreamKind { Default, Blocking, NonBlocking };

class Scheduler {
 public:
  // Runs the memory side of a copy or fill; false: it met memory that is gone. Called with the scheduler's mutex held.
  using Effect = std::function<bool(Work&)>;

  Scheduler(ClockMode mode, Effect effect);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  // Ends the host thread. Requires: nobody is inside a call. Drivers never destroy theirs.
  ~Scheduler();

  // ---- the clock
  void tick();                // a driver call; completes what is due. Nothing with the manual clock
  void advance(Ticks ticks);  // in either mode
  [[nodiscard]] Ticks now() const;
  // True on the thread that runs host functions: driver functions refuse to be called there, as they would wait for
  // themselves.
  [[nodiscard]] static bool in_host_function();

  // ---- contexts and streams
  // Makes the context's default stream, too. With a `parent` (a live context without one itself) it is a part of that:
  // streams of its own, while events and health are the parent's, and what is said of the parent's work holds for its.
  ContextId create_context(ContextId parent = {});
  // Completes its work, then its streams, events and parts are gone. InvalidHandle for an unknown one.
  Status destroy_context(ContextId context);
  [[nodiscard]] bool has_context(ContextId context) const;
  // 0 for an unknown context.
  [[nodiscard]] StreamId default_stream(ContextId context) const;
  Status create_stream(ContextId context, StreamKind kind, StreamId& out);
  // What has been submitted still completes. The default stream can't be destroyed: InvalidHandle.
  Status destroy_stream(StreamId stream);
  [[nodiscard]] bool has_stream(StreamId stream) const;
  // 0 and Blocking for an unknown stream.
  [[nodiscard]] ContextId context_of(StreamId stream) const;
  [[nodiscard]] StreamKind kind_of(StreamId stream) const;

  // ---- work; drivers use Machine::submit, which checks addresses first
  // A stream holds 1024 pieces; a submission beyond that completes the oldest, as drivers wait for room.
  Status submit(StreamId stream, Work work);
  // Later work of `stream` waits for what `event` has recorded up to now; an event never recorded is no wait.
  Status wait_event(StreamId stream, EventId event);

  // ---- waiting and asking. Each answers IllegalAddress once the context concerned has met it.
  Status synchronize(StreamId stream);
  Status query(StreamId stream);
  Status synchronize_context(ContextId context);
  Status query_context(ContextId context);
  // Nothing is pending and no context has met IllegalAddress: no wait would do anything. One or two loads.
  [[nodiscard]] bool is_idle() const {
    return pending_count_.load(std::memory_order_acquire) == 0 && !any_fault_.load(std::memory_order_acquire);
  }
  // All contexts, all devices; for drivers whose free waits for more than one context. Says nothing of errors.
  void synchronize_everything();
  // True while unfinished copies or fills touch [address, address + size).
  [[nodiscard]] bool uses(Address address, std::uint64_t size) const;

  // ---- events
  Status create_event(ContextId context, EventId& out);
  Status destroy_event(EventId event);
  [[nodiscard]] bool has_event(EventId event) const;
  // Stream and event must be of the same context, as in CUDA: InvalidHandle otherwise.
  Status record(EventId event, StreamId stream);
  // The event stands for all work of `context` so far, whatever the stream: its own context or a part of that
  // (InvalidHandle otherwise).
  Status record_context(EventId event, ContextId context);
  // Ok for an event never recorded.
  Status query_event(EventId event);
  Status synchronize_event(EventId event);
  // From the end of one recorded piece of work to the other. InvalidHandle if one was never recorded, NotReady if not
  // done.
  Status elapsed(EventId from, EventId to, std::int64_t& ticks) const;

 private:
  struct Stream;
  struct Piece;
  struct Event;
  struct Context;
  class HostThread;
  using Pieces = std::vector<std::shared_ptr<Piece>>;
  struct EarlierEnd {
    bool operator()(const std::shared_ptr<Piece>& a, const std::shared_ptr<Piece>& b) const;
  };

  std::shared_ptr<Piece> enqueue(const std::shared_ptr<Stream>& stream, Work work, Pieces waits_for);
  [[nodiscard]] Pieces implicit_waits(const Stream& stream) const;
  [[nodiscard]] Pieces pending_of(ContextId context) const;
  [[nodiscard]] bool is_within(ContextId part, ContextId context) const;
  // The context that `context` is a part of, or itself; 0 for an unknown one.
  [[nodiscard]] ContextId whole_of(ContextId context) const;
  static Pieces closure_of(Pieces targets);
  void complete(std::unique_lock<std::mutex>& lock, Pieces targets);
  void complete_due(Ticks time);
  bool run_if_ready(const std::shared_ptr<Piece>& piece);
  void finish(const std::shared_ptr<Piece>& piece);
  void move_clock_to(Ticks time);
  void start_host_thread();
  [[nodiscard]] Status health_of(ContextId context) const;
  [[nodiscard]] std::shared_ptr<Stream> find(StreamId stream) const;
  [[nodiscard]] std::shared_ptr<Event> find(EventId event) const;

  const ClockMode mode_;
  const Effect effect_;
  std::atomic<Ticks> clock_{0};
  std::atomic<std::size_t> pending_count_{0};
  std::atomic<bool> any_fault_{false};

  mutable std::mutex mutex_;
  std::condition_variable host_done_;
  std::set<std::shared_ptr<Piece>, EarlierEnd> pending_;
  std::unordered_map<ContextId, std::shared_ptr<Context>> contexts_;
  std::unordered_map<StreamId, std::shared_ptr<Stream>> streams_;
  std::unordered_map<EventId, std::shared_ptr<Event>> events_;
  std::uint64_t last_piece_ = 0;
  std::unique_ptr<HostThread> host_thread_;
};

}  // namespace sim
