#include "simulator/cuda/driver/streams.hpp"

#include <algorithm>
#include <vector>

#include "simulator/cuda/driver/driver.hpp"

namespace cuda_sim {
namespace {

CUstream to_handle(sim::StreamId id) { return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(id)); }
CUevent to_handle(sim::EventId id) { return reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(id)); }

// The per-thread default streams of one thread, a context's life each. They end with the thread.
class ThreadDefaults {
 public:
  ThreadDefaults() = default;
  ThreadDefaults(const ThreadDefaults&) = delete;
  ThreadDefaults& operator=(const ThreadDefaults&) = delete;
  ~ThreadDefaults() {
    if (Driver* driver = Driver::find()) {  // none in a forked child
      for (const Entry& entry : entries_) {
        driver->machine.scheduler().destroy_stream(entry.stream);
      }
    }
  }

  struct Entry {
    sim::ContextId context{};
    sim::StreamId stream{};
  };
  std::vector<Entry> entries_;
};

thread_local ThreadDefaults thread_defaults;

}  // namespace

CUresult Streams::create(Context& context, unsigned flags, int priority, CUstream& out) {
  const auto kind = flags & CU_STREAM_NON_BLOCKING ? sim::StreamKind::NonBlocking : sim::StreamKind::Blocking;
  Stream stream{.context = &context, .flags = flags};
  stream.priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  if (machine_.scheduler().create_stream(context.core, kind, stream.core) != sim::Status::Ok) {
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  std::lock_guard lock{mutex_};
  out = to_handle(stream.core);
  streams_.emplace(out, stream);
  return CUDA_SUCCESS;
}

CUresult Streams::destroy(CUstream handle) {
  std::unique_lock lock{mutex_};
  const auto found = streams_.find(handle);
  if (found == streams_.end()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const sim::StreamId core = found->second.core;
  streams_.erase(found);
  lock.unlock();
  machine_.scheduler().destroy_stream(core);
  return CUDA_SUCCESS;
}

std::optional<Stream> Streams::find(CUstream handle, Context& current, bool zero_is_thread) {
  if (handle == CU_STREAM_PER_THREAD || (!handle && zero_is_thread)) {
    return thread_default(current);
  }
  if (!handle || handle == CU_STREAM_LEGACY) {
    const sim::ContextId core = current.core;
    return Stream{.core = machine_.scheduler().default_stream(core), .context = &current, .is_legacy_default = true};
  }
  return find_created(handle);
}

std::optional<Stream> Streams::find_created(CUstream handle) const {
  std::lock_guard lock{mutex_};
  const auto found = streams_.find(handle);
  return found != streams_.end() ? std::optional{found->second} : std::nullopt;
}

std::optional<Stream> Streams::thread_default(Context& context) {
  const sim::ContextId core = context.core;
  for (const auto& entry : thread_defaults.entries_) {
    if (entry.context == core) {
      return Stream{.core = entry.stream, .context = &context, .is_thread_default = true};
    }
  }
  sim::StreamId made{};
  if (machine_.scheduler().create_stream(core, sim::StreamKind::Blocking, made) != sim::Status::Ok) {
    return std::nullopt;
  }
  thread_defaults.entries_.push_back({core, made});
  return Stream{.core = made, .context = &context, .is_thread_default = true};
}

CUresult Streams::create_event(Context& context, unsigned flags, CUevent& out) {
  Event event{.context = &context.owner(), .flags = flags};
  if (machine_.scheduler().create_event(context.core, event.core) != sim::Status::Ok) {
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  std::lock_guard lock{mutex_};
  out = to_handle(event.core);
  events_.emplace(out, event);
  return CUDA_SUCCESS;
}

CUresult Streams::destroy_event(CUevent handle) {
  std::unique_lock lock{mutex_};
  const auto found = events_.find(handle);
  if (found == events_.end()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const sim::EventId core = found->second.core;
  events_.erase(found);
  lock.unlock();
  machine_.scheduler().destroy_event(core);
  return CUDA_SUCCESS;
}

std::optional<Event> Streams::find_event(CUevent handle) const {
  std::lock_guard lock{mutex_};
  const auto found = events_.find(handle);
  return found != events_.end() ? std::optional{found->second} : std::nullopt;
}

void Streams::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  std::erase_if(streams_, [&](const auto& entry) { return entry.second.context == &context; });
  std::erase_if(events_, [&](const auto& entry) { return entry.second.context == &context; });
}

}  // namespace cuda_sim
