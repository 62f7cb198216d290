// What the scheduler's source files share; nobody else includes it.
#pragma once

#include <deque>
#include <memory>

#include "simulator/core/scheduler.hpp"

namespace sim {

// A piece of work in a stream. Pieces wait only for earlier ones, so `number` orders them.
struct Scheduler::Piece {
  std::uint64_t number = 0;
  Ticks end = 0;
  Work work;
  ContextId context{};
  std::shared_ptr<Stream> stream;  // until done
  Pieces waits_for;                // until done
  bool handed_over = false;        // a host function that the host thread has or had
  bool done = false;

  [[nodiscard]] bool is_host_function() const { return std::holds_alternative<HostFunction>(work); }
};

struct Scheduler::Stream {
  StreamId id{};
  ContextId context{};
  StreamKind kind = StreamKind::Blocking;
  std::deque<std::shared_ptr<Piece>> queue{};  // not yet done, oldest first
};

struct Scheduler::Event {
  ContextId context{};
  std::shared_ptr<Piece> recorded{};  // nullptr: never
};

struct Scheduler::Context {
  ContextId parent{};  // 0: none
  std::shared_ptr<Stream> default_stream{};
  bool faulty = false;
};

}  // namespace sim
