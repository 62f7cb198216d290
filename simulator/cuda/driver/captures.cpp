#include "simulator/cuda/driver/captures.hpp"

#include <utility>

namespace cuda_sim {
namespace {

constinit thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// No address, and unlike a stream's handle.
CUgraph graph_handle(cuuint64_t id) { return reinterpret_cast<CUgraph>(0x5D70'0000'0000'0000U + id); }

}  // namespace

CUstreamCaptureMode Captures::exchange_thread_mode(CUstreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

CUresult Captures::begin(const Stream& stream, CUstreamCaptureMode mode, CUgraph target) {
  if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
      mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (stream.is_legacy_default) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  std::lock_guard lock{mutex_};
  if (target && !graphs_.contains(target)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Capture capture{
      .stream = stream, .mode = mode, .thread = std::this_thread::get_id(), .id = ++last_id_, .target = target};
  if (!open_.emplace(stream.core, capture).second) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  open_count_.store(open_.size(), std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult Captures::end(const Stream& stream, CUgraph& graph) {
  std::lock_guard lock{mutex_};
  const auto found = open_.find(stream.core);
  graph = nullptr;
  if (found == open_.end()) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  const Capture capture = found->second;
  if (capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture.thread != std::this_thread::get_id()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  open_.erase(found);
  open_count_.store(open_.size(), std::memory_order_release);
  if (capture.invalidated) {
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  graph = capture.target ? capture.target : graph_handle(capture.id);
  graphs_.insert(graph);
  return CUDA_SUCCESS;
}

Captures::State Captures::state_of(const Stream& stream) const {
  if (none_open()) {
    return {};
  }
  std::lock_guard lock{mutex_};
  const auto found = open_.find(stream.core);
  if (found == open_.end()) {
    return {};
  }
  const Capture& capture = found->second;
  return {capture.invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE, capture.id};
}

CUresult Captures::create_graph(CUgraph& graph) {
  std::lock_guard lock{mutex_};
  graph = graph_handle(++last_id_);
  graphs_.insert(graph);
  return CUDA_SUCCESS;
}

CUresult Captures::destroy_graph(CUgraph graph) {
  std::lock_guard lock{mutex_};
  return graphs_.erase(graph) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult Captures::forbid_unsafe_call() {
  if (none_open() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_SUCCESS;
  }
  std::lock_guard lock{mutex_};
  CUresult code = CUDA_SUCCESS;
  for (auto& [stream, capture] : open_) {
    const bool own = capture.thread == std::this_thread::get_id() && capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool global = thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (own || global) {
      capture.invalidated = true;
      code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return code;
}

CUresult Captures::forbid_use_of(const Context& context) {
  if (none_open()) {
    return CUDA_SUCCESS;
  }
  std::lock_guard lock{mutex_};
  CUresult code = CUDA_SUCCESS;
  for (auto& [stream, capture] : open_) {
    if (capture.stream.context == &context || &capture.stream.context->owner() == &context) {
      capture.invalidated = true;
      code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return code;
}

CUresult Captures::admit_work(const Stream& stream, bool& swallow) {
  swallow = false;
  if (none_open()) {
    return CUDA_SUCCESS;
  }
  std::lock_guard lock{mutex_};
  if (const auto found = open_.find(stream.core); found != open_.end()) {
    swallow = true;
    return found->second.invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  }
  CUresult code = CUDA_SUCCESS;
  if (stream.is_legacy_default) {
    // The default stream would wait for every blocking stream, and one of them captures.
    for (auto& [core, capture] : open_) {
      if (capture.stream.context == stream.context && capture.stream.is_blocking()) {
        capture.invalidated = true;
        code = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
    }
  }
  return code;
}

CUresult Captures::forbid_wait_for(const Stream& stream) {
  if (none_open()) {
    return CUDA_SUCCESS;
  }
  std::lock_guard lock{mutex_};
  if (const auto found = open_.find(stream.core); found != open_.end()) {
    found->second.invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

void Captures::forget(sim::StreamId stream) {
  std::lock_guard lock{mutex_};
  open_.erase(stream);
  open_count_.store(open_.size(), std::memory_order_release);
}

void Captures::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  std::erase_if(open_, [&](const auto& entry) { return entry.second.stream.context == &context; });
  open_count_.store(open_.size(), std::memory_order_release);
}

}  // namespace cuda_sim
