#include "simulator/nvml/library.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "simulator/core/device_identity.hpp"
#include "simulator/core/shared_capacity.hpp"
#include "simulator/cuda/identity.hpp"

namespace nvml_sim {
namespace {

// Never destroyed: calls after exit() still get an answer.
struct State {
  std::mutex mutex;
  std::shared_ptr<Library> library;
  unsigned users = 0;
};
State& state() {
  static State& made = *new State;
  return made;
}

// NAME alone is its first call.
std::vector<sim::FailRule> fail_rules() {
  const char* text = std::getenv("CUDA_SIM_NVML_FAIL");
  if (text == nullptr || *text == '\0') return {};
  std::string whole;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view rule = rest.substr(0, rest.find(','));
    rest.remove_prefix(rule.size() < rest.size() ? rule.size() + 1 : rest.size());
    const auto equals = rule.find('=');
    const std::string_view call = rule.substr(0, equals);
    whole += whole.empty() ? "" : ",";
    whole += call;
    whole += call.find(':') == std::string_view::npos ? ":1" : "";
    whole += equals == std::string_view::npos ? std::string_view{} : rule.substr(equals);
  }
  if (auto rules = sim::parse_fail_rules(whole)) return *rules;
  std::fprintf(stderr, "simulator: CUDA_SIM_NVML_FAIL=%s is not a list like NAME, NAME:3, NAME:3+ or NAME:3=CODE\n",
               text);
  return {};
}

// Faults of its own and no trace: both variables are the driver's.
sim::Knobs read_knobs() {
  sim::Knobs knobs = cuda_sim::read_machine_knobs();
  knobs.fail = fail_rules();
  knobs.trace.clear();
  return knobs;
}

}  // namespace

std::shared_ptr<Library> Library::find() {
  const std::lock_guard lock{state().mutex};
  return state().library;
}

void Library::initialise() {
  const std::lock_guard lock{state().mutex};
  if (state().users++ == 0) state().library = std::make_shared<Library>();
}

bool Library::shut_down() {
  const std::lock_guard lock{state().mutex};
  if (state().users == 0) return false;
  if (--state().users == 0) state().library.reset();
  return true;
}

Library::Library() : knobs_(read_knobs()), gate_(knobs_, nullptr) {
  for (int index = 0; index < knobs_.devices; ++index) {
    devices_.push_back({.index = index, .identity = sim::identity_of(cuda_sim::kProduct, index)});
  }
}

bool Library::has(Device device) const {
  for (const nvmlDevice_st& known : devices_) {
    if (&known == device) return true;
  }
  return false;
}

Return Library::memory_of(Device device, MemoryV2& memory) const {
  if (knobs_.shared.empty()) return kNotSupported;
  // A process among them, for the moment of the look.
  std::string why;
  const auto shared = sim::SharedCapacity::join(cuda_sim::shared_file(knobs_), why);
  if (shared == nullptr) return kUnknown;
  memory.total = knobs_.memory_bytes;
  memory.reserved = 0;
  memory.used = shared->used(device->index);
  memory.free = memory.used < memory.total ? memory.total - memory.used : 0;
  return kSuccess;
}

}  // namespace nvml_sim
