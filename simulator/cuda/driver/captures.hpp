// Stream capture: a stream that captures puts its work into a graph instead of doing it, and calls that are unsafe
// during a capture fail and invalidate it, as the driver documents for the three modes. Events don't carry a capture
// over to other streams. Any thread may call; with no capture open every question is one load.
#pragma once

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "simulator/cuda/driver/graphs.hpp"
#include "simulator/cuda/driver/streams.hpp"

namespace cuda_sim {

class Captures {
 public:
  explicit Captures(Graphs& graphs) : graphs_(graphs) {}

  // `target`: NULL, or the graph that the capture goes into.
  CUresult begin(const Stream& stream, CUstreamCaptureMode mode, CUgraph target = nullptr);
  CUresult end(const Stream& stream, CUgraph& graph);
  struct State {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
  };
  [[nodiscard]] State state_of(const Stream& stream) const;
  // Adds a node to what `stream` captures into. Requires: it captures.
  void add(const Stream& stream, GraphNode node);
  // The capture of `stream` has allocated that memory, and not freed it.
  [[nodiscard]] bool holds(const Stream& stream, CUdeviceptr memory) const;

  // For calls that a capture doesn't bear (allocation, free, synchronous copies, waits, event queries):
  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, with the captures in question invalidated, or CUDA_SUCCESS.
  CUresult forbid_unsafe_call();
  // For a call that waits for all of `context`, or records it: any capture in it or in a part of it is in the way,
  // whatever its mode.
  CUresult forbid_use_of(const Context& context);
  // For work on `stream`. CUDA_SUCCESS with `swallow`: the stream captures, there is nothing to run, but a node to add.
  CUresult admit_work(const Stream& stream, bool& swallow);
  // For a wait for `stream` or a question about it.
  CUresult forbid_wait_for(const Stream& stream);

  // The stream or its context has gone.
  void forget(sim::StreamId stream);
  void forget(const Context& context);

  // The calling thread's mode; returns the one before.
  static CUstreamCaptureMode exchange_thread_mode(CUstreamCaptureMode mode);

 private:
  struct Capture {
    Stream stream;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread{};
    bool invalidated = false;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    bool is_given = false;  // the program's own graph
  };
  using Open = std::unordered_map<sim::StreamId, Capture>;

  [[nodiscard]] bool none_open() const { return open_count_.load(std::memory_order_acquire) == 0; }

  void drop(Open::iterator capture);

  Graphs& graphs_;
  std::atomic<std::size_t> open_count_{0};
  mutable std::mutex mutex_;
  Open open_;
  cuuint64_t last_id_ = 0;
};

}  // namespace cuda_sim
