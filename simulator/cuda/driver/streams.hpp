// Streams and events as the driver's clients see them: handles that are checked, flags, priorities, and the default
// streams behind 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD. Any thread may call.
//
// A handle is the device core's number of the stream or event: never used twice, no address.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/contexts.hpp"

namespace cuda_sim {

struct Stream {
  sim::StreamId core{};
  Context* context = nullptr;
  unsigned flags = CU_STREAM_DEFAULT;
  int priority = 0;
  bool is_legacy_default = false;
  bool is_thread_default = false;

  [[nodiscard]] bool is_blocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }
};

struct Event {
  sim::EventId core{};
  Context* context = nullptr;  // never a green one: those made there are their primary's
  unsigned flags = CU_EVENT_DEFAULT;
};

// Greater priority, smaller number, as in CUDA.
inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;

class Streams {
 public:
  explicit Streams(sim::Machine& machine) : machine_(machine) {}

  // Requires: a live context.
  CUresult create(Context& context, unsigned flags, int priority, CUstream& out);
  CUresult destroy(CUstream handle);
  // What `handle` stands for in a call made with `current`; `zero_is_thread`: in a _ptsz function.
  [[nodiscard]] std::optional<Stream> find(CUstream handle, Context& current, bool zero_is_thread);
  // No default streams.
  [[nodiscard]] std::optional<Stream> find_created(CUstream handle) const;

  CUresult create_event(Context& context, unsigned flags, CUevent& out);
  CUresult destroy_event(CUevent handle);
  [[nodiscard]] std::optional<Event> find_event(CUevent handle) const;

  // The context's life has ended.
  void forget(const Context& context);

 private:
  [[nodiscard]] std::optional<Stream> thread_default(Context& context);

  sim::Machine& machine_;
  mutable std::mutex mutex_;
  std::unordered_map<CUstream, Stream> streams_;
  std::unordered_map<CUevent, Event> events_;
};

}  // namespace cuda_sim
