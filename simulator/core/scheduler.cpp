#include "simulator/core/scheduler.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "simulator/core/host_thread.hpp"
#include "simulator/core/scheduler_parts.hpp"

namespace sim {
namespace {

constexpr std::size_t kMostQueued = 1024;

bool touches(Address address, std::uint64_t size, Address start, std::uint64_t width, std::uint64_t height,
             std::uint64_t pitch) {
  const std::uint64_t span = height == 0 ? 0 : (height - 1) * pitch + width;
  return start < address + size && address < start + span;
}

}  // namespace

bool Scheduler::EarlierEnd::operator()(const std::shared_ptr<Piece>& a, const std::shared_ptr<Piece>& b) const {
  return a->end != b->end ? a->end < b->end : a->number < b->number;
}

Scheduler::Scheduler(ClockMode mode, Effect effect) : mode_(mode), effect_(std::move(effect)) {}

Scheduler::~Scheduler() {
  host_thread_.reset();
  // Pieces and streams point at each other until a piece is done.
  for (const auto& piece : pending_) {
    piece->waits_for.clear();
    piece->stream->queue.clear();
    piece->stream.reset();
  }
}

// ---- the clock

Ticks Scheduler::now() const { return clock_.load(std::memory_order_relaxed); }

void Scheduler::tick() {
  if (mode_ == ClockMode::Auto) advance(1);
}

void Scheduler::advance(Ticks ticks) {
  const Ticks now = clock_.fetch_add(ticks, std::memory_order_relaxed) + ticks;
  if (pending_count_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock{mutex_};
  complete_due(now);
}

void Scheduler::move_clock_to(Ticks time) {
  Ticks now = clock_.load(std::memory_order_relaxed);
  while (now < time && !clock_.compare_exchange_weak(now, time, std::memory_order_relaxed)) {
  }
}

// ---- submitting

Status Scheduler::submit(StreamId stream_id, Work work) {
  std::unique_lock lock{mutex_};
  auto stream = find(stream_id);
  while (stream != nullptr && stream->queue.size() >= kMostQueued) {
    complete(lock, {stream->queue.front()});
    stream = find(stream_id);  // it may have gone while a host function was waited for
  }
  if (stream == nullptr) return Status::InvalidHandle;
  if (auto health = health_of(stream->context); health != Status::Ok) return health;
  enqueue(stream, std::move(work), {});
  return Status::Ok;
}

Status Scheduler::wait_event(StreamId stream_id, EventId event_id) {
  const std::lock_guard lock{mutex_};
  const auto stream = find(stream_id);
  const auto event = find(event_id);
  if (stream == nullptr || event == nullptr) return Status::InvalidHandle;
  if (event->recorded != nullptr && !event->recorded->done) enqueue(stream, Marker{}, {event->recorded});
  return Status::Ok;
}

Status Scheduler::record(EventId event_id, StreamId stream_id) {
  const std::lock_guard lock{mutex_};
  const auto stream = find(stream_id);
  const auto event = find(event_id);
  if (stream == nullptr || event == nullptr || event->context != whole_of(stream->context)) {
    return Status::InvalidHandle;
  }
  event->recorded = enqueue(stream, Marker{}, {});
  return Status::Ok;
}

Status Scheduler::record_context(EventId event_id, ContextId context) {
  const std::lock_guard lock{mutex_};
  const auto event = find(event_id);
  if (event == nullptr || !contexts_.contains(context) || event->context != whole_of(context)) {
    return Status::InvalidHandle;
  }
  // A stream of its own, which nobody else can name, so that no other work waits for the marker.
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->kind = StreamKind::NonBlocking;
  event->recorded = enqueue(stream, Marker{}, pending_of(context));
  return Status::Ok;
}

std::shared_ptr<Scheduler::Piece> Scheduler::enqueue(const std::shared_ptr<Stream>& stream, Work work,
                                                     Pieces waits_for) {
  const auto implicit = implicit_waits(*stream);
  waits_for.insert(waits_for.end(), implicit.begin(), implicit.end());
  Ticks start = now();
  for (const auto& earlier : waits_for) start = std::max(start, earlier->end);

  auto piece = std::make_shared<Piece>();
  piece->number = ++last_piece_;
  piece->end = start + duration_of(work);
  piece->work = std::move(work);
  piece->context = stream->context;
  if (waits_for.empty() && piece->end <= now() && !piece->is_host_function()) {
    piece->done = true;  // a marker in an idle stream
    return piece;
  }
  piece->stream = stream;
  piece->waits_for = std::move(waits_for);
  if (piece->is_host_function()) start_host_thread();

  stream->queue.push_back(piece);
  try {
    pending_.insert(piece);
  } catch (...) {
    stream->queue.pop_back();
    piece->stream.reset();
    throw;
  }
  pending_count_.fetch_add(1, std::memory_order_release);
  if (piece->is_host_function()) host_thread_->expect_one();
  if (piece->end <= now()) run_if_ready(piece);
  return piece;
}

Scheduler::Pieces Scheduler::implicit_waits(const Stream& stream) const {
  Pieces waits;
  if (!stream.queue.empty()) waits.push_back(stream.queue.back());
  if (stream.kind == StreamKind::Blocking) {
    const auto& queue = contexts_.at(stream.context)->default_stream->queue;
    if (!queue.empty()) waits.push_back(queue.back());
  } else if (stream.kind == StreamKind::Default) {
    for (const auto& piece : pending_) {
      const Stream& other = *piece->stream;
      if (piece->context == stream.context && other.kind == StreamKind::Blocking && other.queue.back() == piece) {
        waits.push_back(piece);
      }
    }
  }
  return waits;
}

// ---- completing

// In order of end: what a piece waits for never ends later and has a lower number, so one pass is enough.
void Scheduler::complete_due(Ticks time) {
  for (auto next = pending_.begin(); next != pending_.end() && (*next)->end <= time;) {
    const auto piece = *next++;
    run_if_ready(piece);
  }
}

// Whether it is done now. A host function is only handed over; the host thread finishes it.
bool Scheduler::run_if_ready(const std::shared_ptr<Piece>& piece) {
  if (piece->done) return true;
  const auto& waits = piece->waits_for;
  if (std::any_of(waits.begin(), waits.end(), [](const auto& earlier) { return !earlier->done; })) return false;
  if (piece->is_host_function()) {
    if (!std::exchange(piece->handed_over, true)) host_thread_->hand_over(piece);
    return false;
  }
  Context& context = *contexts_.at(whole_of(piece->context));
  if (!context.faulty && !effect_(piece->work)) {
    context.faulty = true;
    any_fault_.store(true, std::memory_order_release);
  }
  finish(piece);
  return true;
}

void Scheduler::finish(const std::shared_ptr<Piece>& piece) {
  piece->done = true;
  piece->waits_for.clear();
  piece->work = Marker{};
  piece->stream->queue.pop_front();
  piece->stream.reset();
  pending_.erase(piece);
  pending_count_.fetch_sub(1, std::memory_order_release);
}

// All that `targets` wait for and themselves, in the order in which they can run.
Scheduler::Pieces Scheduler::closure_of(Pieces targets) {
  std::unordered_set<const Piece*> seen;
  Pieces closure;
  while (!targets.empty()) {
    const auto piece = std::move(targets.back());
    targets.pop_back();
    if (piece->done || !seen.insert(piece.get()).second) continue;
    targets.insert(targets.end(), piece->waits_for.begin(), piece->waits_for.end());
    closure.push_back(piece);
  }
  std::sort(closure.begin(), closure.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  return closure;
}

void Scheduler::complete(std::unique_lock<std::mutex>& lock, Pieces targets) {
  const Pieces closure = closure_of(std::move(targets));
  if (closure.empty()) return;
  for (;;) {
    bool all_done = true;
    for (const auto& piece : closure) all_done = run_if_ready(piece) && all_done;
    if (all_done) break;
    host_done_.wait(lock);
  }
  Ticks latest = 0;
  for (const auto& piece : closure) latest = std::max(latest, piece->end);
  move_clock_to(latest);
  complete_due(now());
}

Scheduler::Pieces Scheduler::pending_of(ContextId context) const {
  Pieces found;
  std::copy_if(pending_.begin(), pending_.end(), std::back_inserter(found),
               [this, context](const auto& piece) { return is_within(piece->context, context); });
  return found;
}

bool Scheduler::is_within(ContextId part, ContextId context) const {
  return part == context || whole_of(part) == context;
}

ContextId Scheduler::whole_of(ContextId context) const {
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return ContextId{};
  return found->second->parent == ContextId{} ? context : found->second->parent;
}

// ---- waiting and asking

Status Scheduler::synchronize(StreamId stream_id) {
  std::unique_lock lock{mutex_};
  const auto stream = find(stream_id);
  if (stream == nullptr) return Status::InvalidHandle;
  if (!stream->queue.empty()) complete(lock, {stream->queue.back()});
  return health_of(stream->context);
}

Status Scheduler::query(StreamId stream_id) {
  const std::lock_guard lock{mutex_};
  const auto stream = find(stream_id);
  if (stream == nullptr) return Status::InvalidHandle;
  if (auto health = health_of(stream->context); health != Status::Ok) return health;
  return stream->queue.empty() ? Status::Ok : Status::NotReady;
}

Status Scheduler::synchronize_context(ContextId context) {
  std::unique_lock lock{mutex_};
  if (!contexts_.contains(context)) return Status::InvalidHandle;
  if (!pending_.empty()) complete(lock, pending_of(context));
  return health_of(context);
}

Status Scheduler::query_context(ContextId context) {
  const std::lock_guard lock{mutex_};
  if (!contexts_.contains(context)) return Status::InvalidHandle;
  if (auto health = health_of(context); health != Status::Ok) return health;
  return pending_of(context).empty() ? Status::Ok : Status::NotReady;
}

void Scheduler::synchronize_everything() {
  if (is_idle()) return;
  std::unique_lock lock{mutex_};
  complete(lock, Pieces{pending_.begin(), pending_.end()});
}

Status Scheduler::synchronize_event(EventId event_id) {
  std::unique_lock lock{mutex_};
  const auto event = find(event_id);
  if (event == nullptr) return Status::InvalidHandle;
  if (event->recorded != nullptr) complete(lock, {event->recorded});
  return health_of(event->context);
}

Status Scheduler::query_event(EventId event_id) {
  const std::lock_guard lock{mutex_};
  const auto event = find(event_id);
  if (event == nullptr) return Status::InvalidHandle;
  if (auto health = health_of(event->context); health != Status::Ok) return health;
  return event->recorded == nullptr || event->recorded->done ? Status::Ok : Status::NotReady;
}

bool Scheduler::uses(Address address, std::uint64_t size) const {
  if (is_idle()) return false;
  const std::lock_guard lock{mutex_};
  return std::any_of(pending_.begin(), pending_.end(), [&](const auto& piece) {
    if (const auto* copy = std::get_if<Copy>(&piece->work)) {
      return touches(address, size, copy->to, copy->width + (copy->depth - 1) * copy->to_slice, copy->height,
                     copy->to_pitch) ||
             touches(address, size, copy->from, copy->width + (copy->depth - 1) * copy->from_slice, copy->height,
                     copy->from_pitch);
    }
    const auto* fill = std::get_if<Fill>(&piece->work);
    return fill != nullptr && touches(address, size, fill->to, fill->width, fill->height, fill->pitch);
  });
}

}  // namespace sim
