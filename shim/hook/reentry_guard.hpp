// How deep this thread is inside our own hooks: the driver may call itself through us, and we call the driver.
#pragma once

#include <pthread.h>

namespace tidemark::hook {

struct ThreadState {
  int depth = 0;
  bool driver_allocation_ran = false;  // set by the driver's allocation hook, read by the runtime's (DESIGN D1)
};

// initial-exec: the only model that never allocates on first use, which a hook of dlsym could not survive.
inline constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec"))){};

// Every hook takes one, and so does every call of ours into a driver (the service thread comes through no hook).
// Holds the depth up while it lives; `is_reentrant()` says that somebody outside already did.
class ReentryGuard {
 public:
  ReentryGuard() noexcept : outer_depth_(thread_state.depth++) {}
  ~ReentryGuard() { thread_state.depth = outer_depth_; }
  ReentryGuard(const ReentryGuard&) = delete;
  ReentryGuard& operator=(const ReentryGuard&) = delete;

  [[nodiscard]] bool is_reentrant() const noexcept { return outer_depth_ > 0; }

 private:
  int outer_depth_;
};

// While it lives, this thread's calls are the program's own again, wherever they come from: around functions of the
// program that we call. Requires: no lock of ours is held.
class ProgramScope {
 public:
  ProgramScope() noexcept : outer_depth_(thread_state.depth) { thread_state.depth = 0; }
  ~ProgramScope() { thread_state.depth = outer_depth_; }
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

 private:
  int outer_depth_;
};

// Keeps a cancellation of this thread (pthread_cancel) pending while it lives: it may end a driver call, but not unwind
// through our frames, which cannot be.
class CancellationAway {
 public:
  CancellationAway() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &outer_); }
  ~CancellationAway() { pthread_setcancelstate(outer_, nullptr); }
  CancellationAway(const CancellationAway&) = delete;
  CancellationAway& operator=(const CancellationAway&) = delete;

 private:
  int outer_ = PTHREAD_CANCEL_ENABLE;
};

// Around each call of ours into a driver.
struct DriverCallScope {
  ReentryGuard guard;
  CancellationAway cancellation;
};

}  // namespace tidemark::hook
