#include "client/library/phases.hpp"

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/library/failure.hpp"
#include "client/library/own_process.hpp"
#include "client/library/stats.hpp"

namespace tidemark::client {
namespace {

struct Phase {
  std::string name;
  std::int64_t ticket = kUnmeasured;
};

class PhasesOfThread {
 public:
  PhasesOfThread() = default;
  PhasesOfThread(const PhasesOfThread&) = delete;
  PhasesOfThread& operator=(const PhasesOfThread&) = delete;
  ~PhasesOfThread() {
    for (const Phase& phase : open_) {
      close(phase);
    }
  }

  void push(Phase phase) { open_.push_back(std::move(phase)); }
  void pop() {
    close(open_.back());
    open_.pop_back();
  }
  [[nodiscard]] const Phase* innermost() const { return open_.empty() ? nullptr : &open_.back(); }

 private:
  // In a forked child the library knows nothing of its parent's tickets, and says so.
  static void close(const Phase& phase) noexcept {
    if (const ShimTable* const shim = serving_shim(); shim != nullptr && phase.ticket != kUnmeasured) {
      (void)shim->close_phase(phase.ticket);
    }
  }

  std::vector<Phase> open_;
};

// A plain pointer: what C++ destroys with a thread it destroys in the thread that ends the program too, before handlers
// of atexit() and destructors of static objects, which may have phases.
constinit thread_local PhasesOfThread* phases_of_thread = nullptr;

// A key's destructor, on the other hand, comes with the end of a thread alone. What the thread leaves open ends with
// it.
void end_with_thread(void* phases) noexcept {
  delete static_cast<PhasesOfThread*>(phases);
  phases_of_thread = nullptr;
}

struct Key {
  pthread_key_t key{};
  int error = pthread_key_create(&key, &end_with_thread);
};

PhasesOfThread& made_phases_of_thread() {
  if (phases_of_thread == nullptr) {
    static const Key key;
    auto made = std::make_unique<PhasesOfThread>();
    if (const int error = key.error != 0 ? key.error : pthread_setspecific(key.key, made.get()); error != 0) {
      throw system_failure("the end of this thread could not be watched", error);
    }
    phases_of_thread = made.release();
  }
  return *phases_of_thread;
}

const Phase* innermost_or_none() { return phases_of_thread == nullptr ? nullptr : phases_of_thread->innermost(); }

const Phase& innermost() {
  const Phase* const phase = innermost_or_none();
  if (phase == nullptr) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, "no phase is open in this thread; tidemark_phase_push() begins one");
  }
  return *phase;
}

// False: there is no such phase.
bool read(std::int64_t ticket, const DeviceWord& word, tidemark_device_stats& out) {
  clear_stats(out);
  const DeviceName device = OwnProcess::resolve(word);
  const ShimTable* const shim = serving_shim();
  if (shim == nullptr || ticket == kUnmeasured || device.backend == Backend::Unknown) {
    return true;
  }
  DeviceBasis basis;
  const std::int32_t code = shim->phase_counters(
      ticket, {.backend = static_cast<std::uint32_t>(device.backend), .ordinal = device.ordinal}, basis.words.data());
  if (code == kShimNoDevice) {
    fill_stats(untouched(device), out);
    return true;
  }
  if (code == kShimInvalid) {
    return false;
  }
  check_shim("phase", code);
  fill_stats(basis, out);
  return true;
}

[[noreturn]] void fail_no_phase() {
  throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                "no such phase is open in this process: it has ended, or was begun before this process was forked");
}

}  // namespace

std::int64_t begin_phase() {
  const ShimTable* const shim = serving_shim();
  const std::int64_t ticket = shim == nullptr ? kUnmeasured : shim->open_phase();
  if (ticket == kShimBusy) {
    throw Failure(TIDEMARK_ERROR_BUSY,
                  "64 phases are open in this process; tidemark_phase_pop() or tidemark_phase_end() ends one");
  }
  return ticket > 0 ? ticket : kUnmeasured;
}

void read_phase(std::int64_t ticket, const DeviceWord& device, tidemark_device_stats& out) {
  if (!read(ticket, device, out)) {
    fail_no_phase();
  }
}

void end_phase(std::int64_t ticket) {
  const ShimTable* const shim = serving_shim();
  if (ticket != kUnmeasured && (shim == nullptr || shim->close_phase(ticket) != kShimOk)) {
    fail_no_phase();
  }
}

// The stack first: what needs memory fails before there is a ticket to be lost.
void push_phase(const char* name) {
  require(name, "name");
  Phase phase{.name = name};
  PhasesOfThread& phases = made_phases_of_thread();
  phase.ticket = begin_phase();
  phases.push(std::move(phase));
}

void pop_phase() {
  (void)innermost();
  phases_of_thread->pop();
}

void read_innermost_phase(const DeviceWord& device, tidemark_device_stats& out) {
  const Phase& phase = innermost();
  if (!read(phase.ticket, device, out)) {
    throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED, "phase " + quoted(phase.name) +
                                                      " was begun before this process was forked; it measures nothing "
                                                      "here");
  }
}

const char* phase_name() {
  const Phase* const phase = innermost_or_none();
  return phase == nullptr ? nullptr : phase->name.c_str();
}

void require_phase() { (void)innermost(); }

}  // namespace tidemark::client
