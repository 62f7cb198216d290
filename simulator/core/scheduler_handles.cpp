// The scheduler's contexts, streams and events: making, finding, destroying.
#include <algorithm>

#include "simulator/core/host_thread.hpp"
#include "simulator/core/scheduler.hpp"
#include "simulator/core/scheduler_parts.hpp"

namespace sim {
namespace {

// No address of user space, so a driver's client that follows a handle notices at once.
constexpr std::uint64_t kFirstHandle = 0x5D00'0000'0000'0001;

std::uint64_t next_handle() {
  static constinit std::atomic<std::uint64_t> next{kFirstHandle};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

bool Scheduler::in_host_function() { return HostThread::is_this_thread(); }

void Scheduler::start_host_thread() {
  if (host_thread_ == nullptr) host_thread_ = std::make_unique<HostThread>(*this);
}

Status Scheduler::health_of(ContextId context) const {
  if (!any_fault_.load(std::memory_order_acquire)) return Status::Ok;
  const auto found = contexts_.find(whole_of(context));
  return found != contexts_.end() && found->second->faulty ? Status::IllegalAddress : Status::Ok;
}

std::shared_ptr<Scheduler::Stream> Scheduler::find(StreamId stream) const {
  const auto found = streams_.find(stream);
  return found != streams_.end() ? found->second : nullptr;
}

std::shared_ptr<Scheduler::Event> Scheduler::find(EventId event) const {
  const auto found = events_.find(event);
  return found != events_.end() ? found->second : nullptr;
}

// ---- contexts

ContextId Scheduler::create_context(ContextId parent) {
  const ContextId id{next_handle()};
  auto stream = std::make_shared<Stream>();
  stream->id = StreamId{next_handle()};
  stream->context = id;
  stream->kind = StreamKind::Default;
  auto context = std::make_shared<Context>();
  context->parent = parent;
  context->default_stream = stream;
  const std::lock_guard lock{mutex_};
  contexts_.emplace(id, context);
  try {
    streams_.emplace(stream->id, stream);
  } catch (...) {
    contexts_.erase(id);
    throw;
  }
  return id;
}

Status Scheduler::destroy_context(ContextId context) {
  std::unique_lock lock{mutex_};
  if (!contexts_.contains(context)) return Status::InvalidHandle;
  // While a host function is waited for, another thread may submit more, or destroy the context itself.
  for (auto left = pending_of(context); !left.empty(); left = pending_of(context)) complete(lock, std::move(left));
  if (!contexts_.contains(context)) return Status::InvalidHandle;
  std::erase_if(streams_, [&](const auto& entry) { return is_within(entry.second->context, context); });
  std::erase_if(events_, [context](const auto& entry) { return entry.second->context == context; });
  std::erase_if(contexts_, [context](const auto& entry) { return entry.second->parent == context; });
  contexts_.erase(context);
  return Status::Ok;
}

bool Scheduler::has_context(ContextId context) const {
  const std::lock_guard lock{mutex_};
  return contexts_.contains(context);
}

StreamId Scheduler::default_stream(ContextId context) const {
  const std::lock_guard lock{mutex_};
  const auto found = contexts_.find(context);
  return found != contexts_.end() ? found->second->default_stream->id : StreamId{};
}

// ---- streams

Status Scheduler::create_stream(ContextId context, StreamKind kind, StreamId& out) {
  const StreamId id{next_handle()};
  auto stream = std::make_shared<Stream>();
  stream->id = id;
  stream->context = context;
  stream->kind = kind;
  const std::lock_guard lock{mutex_};
  if (!contexts_.contains(context)) return Status::InvalidHandle;
  streams_.emplace(id, std::move(stream));
  out = id;
  return Status::Ok;
}

Status Scheduler::destroy_stream(StreamId stream) {
  const std::lock_guard lock{mutex_};
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second->kind == StreamKind::Default) return Status::InvalidHandle;
  streams_.erase(found);
  return Status::Ok;
}

bool Scheduler::has_stream(StreamId stream) const {
  const std::lock_guard lock{mutex_};
  return streams_.contains(stream);
}

ContextId Scheduler::context_of(StreamId stream_id) const {
  const std::lock_guard lock{mutex_};
  const auto stream = find(stream_id);
  return stream != nullptr ? stream->context : ContextId{};
}

StreamKind Scheduler::kind_of(StreamId stream_id) const {
  const std::lock_guard lock{mutex_};
  const auto stream = find(stream_id);
  return stream != nullptr ? stream->kind : StreamKind::Blocking;
}

// ---- events

Status Scheduler::create_event(ContextId context, EventId& out) {
  const EventId id{next_handle()};
  auto event = std::make_shared<Event>();
  const std::lock_guard lock{mutex_};
  event->context = whole_of(context);
  if (event->context == ContextId{}) return Status::InvalidHandle;
  events_.emplace(id, std::move(event));
  out = id;
  return Status::Ok;
}

Status Scheduler::destroy_event(EventId event) {
  const std::lock_guard lock{mutex_};
  return events_.erase(event) == 1 ? Status::Ok : Status::InvalidHandle;
}

bool Scheduler::has_event(EventId event) const {
  const std::lock_guard lock{mutex_};
  return events_.contains(event);
}

Status Scheduler::elapsed(EventId from, EventId to, std::int64_t& ticks) const {
  const std::lock_guard lock{mutex_};
  const auto first = find(from);
  const auto second = find(to);
  if (first == nullptr || second == nullptr) return Status::InvalidHandle;
  if (first->recorded == nullptr || second->recorded == nullptr) return Status::InvalidHandle;
  if (!first->recorded->done || !second->recorded->done) return Status::NotReady;
  ticks = static_cast<std::int64_t>(second->recorded->end) - static_cast<std::int64_t>(first->recorded->end);
  return Status::Ok;
}

}  // namespace sim
