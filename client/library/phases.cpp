#include "client/library/phases.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "client/library/failure.hpp"
#include "client/library/own_process.hpp"
#include "client/library/stats.hpp"

namespace tidemark::client {
namespace {

constexpr std::int64_t kNoTicket = -1;  // without the library: a phase that measures nothing

struct Phase {
  std::string name;
  std::int64_t ticket = kNoTicket;
};

// What a thread leaves open ends with it. In a forked child the library knows nothing of its parent's tickets, and
// says so.
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
  static void close(const Phase& phase) noexcept {
    if (const ShimTable* const shim = serving_shim(); shim != nullptr && phase.ticket != kNoTicket) {
      (void)shim->close_phase(phase.ticket);
    }
  }

  std::vector<Phase> open_;
};

thread_local PhasesOfThread phases_of_thread;

const Phase& innermost() {
  const Phase* const phase = phases_of_thread.innermost();
  if (phase == nullptr) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, "no phase is open in this thread; tidemark_phase_push() begins one");
  }
  return *phase;
}

}  // namespace

void push_phase(const char* name) {
  require(name, "name");
  Phase phase{.name = name};
  if (const ShimTable* const shim = serving_shim(); shim != nullptr) {
    const std::int64_t ticket = shim->open_phase();
    if (ticket == kShimBusy) {
      throw Failure(TIDEMARK_ERROR_BUSY, "64 phases are open in this process; tidemark_phase_pop() ends one");
    }
    phase.ticket = ticket >= 0 ? ticket : kNoTicket;
  }
  phases_of_thread.push(std::move(phase));
}

void pop_phase() {
  (void)innermost();
  phases_of_thread.pop();
}

void read_phase(const DeviceWord& word, tidemark_device_stats& out) {
  const Phase& phase = innermost();
  clear_stats(out);
  const DeviceName device = OwnProcess::resolve(word);
  const ShimTable* const shim = serving_shim();
  if (shim == nullptr || phase.ticket == kNoTicket || device.backend == Backend::Unknown) {
    return;
  }
  DeviceBasis basis;
  const std::int32_t code = shim->phase_counters(
      phase.ticket, {.backend = static_cast<std::uint32_t>(device.backend), .ordinal = device.ordinal},
      basis.words.data());
  if (code == kShimNoDevice) {
    fill_stats(untouched(device), out);
    return;
  }
  if (code == kShimInvalid) {
    throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED,
                  "phase '" + phase.name + "' was begun before this process was forked; it measures nothing here");
  }
  check_shim("phase", code);
  fill_stats(basis, out);
}

const char* phase_name() {
  const Phase* const phase = phases_of_thread.innermost();
  return phase == nullptr ? nullptr : phase->name.c_str();
}

void require_phase() { (void)innermost(); }

}  // namespace tidemark::client
