#include "simulator/cuda/driver/captures.hpp"

#include <utility>

namespace cuda_sim {
namespace {

constinit thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

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
  if (target && !graphs_.has(target)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (open_.contains(stream.core)) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  open_.emplace(stream.core, Capture{.stream = stream,
                                     .mode = mode,
                                     .thread = std::this_thread::get_id(),
                                     .id = ++last_id_,
                                     .graph = target ? target : graphs_.create(),
                                     .is_given = target != nullptr});
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
  if (capture.invalidated) {
    drop(found);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  open_.erase(found);
  open_count_.store(open_.size(), std::memory_order_release);
  graph = capture.graph;
  return CUDA_SUCCESS;
}

void Captures::drop(Open::iterator capture) {
  if (!capture->second.is_given) {
    graphs_.destroy(capture->second.graph);
  }
  open_.erase(capture);
  open_count_.store(open_.size(), std::memory_order_release);
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

void Captures::add(const Stream& stream, GraphNode node) {
  std::lock_guard lock{mutex_};
  if (const auto found = open_.find(stream.core); found != open_.end()) {
    graphs_.add(found->second.graph, std::move(node));
  }
}

bool Captures::holds(const Stream& stream, CUdeviceptr memory) const {
  std::lock_guard lock{mutex_};
  const auto found = open_.find(stream.core);
  const auto nodes = found != open_.end() ? graphs_.nodes_of(found->second.graph) : std::nullopt;
  bool is_held = false;
  for (const GraphNode& node : nodes ? *nodes : std::vector<GraphNode>{}) {
    if (node.memory == memory) {
      is_held = node.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    }
  }
  return is_held;
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
  if (const auto found = open_.find(stream); found != open_.end()) {
    drop(found);
  }
}

void Captures::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  for (auto capture = open_.begin(); capture != open_.end();) {
    const auto here = capture++;
    if (here->second.stream.context == &context) {
      drop(here);
    }
  }
}

}  // namespace cuda_sim
