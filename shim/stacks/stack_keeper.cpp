#include "shim/stacks/stack_keeper.hpp"

#include <span>

#include "shim/stacks/capture.hpp"

namespace tidemark::stacks {
namespace {

static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t));

history::StackEnd end_of(Ending ending) {
  switch (ending) {
    case Ending::Outermost:
      return history::StackEnd::Outermost;
    case Ending::Full:
      return history::StackEnd::Cut;
    case Ending::Lost:
      break;
  }
  return history::StackEnd::Lost;
}

}  // namespace

StackKeeper::StackKeeper(history::ProcessTables& tables, history::Stacks wanted) noexcept
    : tables_(tables),
      wants_native_(wanted == history::Stacks::Cpp || wanted == history::Stacks::All),
      wants_python_(wanted == history::Stacks::Python || wanted == history::Stacks::All),
      texts_(tables),
      modules_(tables) {}

void StackKeeper::list(const history::StackWords& stack, std::uint64_t now_ns) noexcept {
  modules_.list(
      stack.addresses, now_ns,
      [](const link_map& object, void* keeper) noexcept { static_cast<StackKeeper*>(keeper)->look_for_python(object); },
      this);
}

void StackKeeper::look_for_python(const link_map& object) noexcept {
  if (!wants_python_ || has_python_.load(std::memory_order_acquire) ||
      is_finding_.test_and_set(std::memory_order_acquire)) {
    return;
  }
  if (!has_python_.load(std::memory_order_acquire) && find_python_in(object, python_)) {
    has_python_.store(true, std::memory_order_release);
  }
  is_finding_.clear(std::memory_order_release);
}

void StackKeeper::look(const history::StackWords& stack, std::uint64_t now_ns) noexcept {
  if (!is_looking_.test_and_set(std::memory_order_acquire)) {  // else another thread does
    is_look_due_.store(false, std::memory_order_relaxed);
    modules_.look_for_gone(now_ns);
    is_looking_.clear(std::memory_order_release);
  }
  list(stack, now_ns);
}

void StackKeeper::take_native(Addresses& into, history::StackWords& stack) const noexcept {
  const Walk walk = capture_beyond_us(into);
  stack.addresses = std::span{into}.first(walk.frames);
  stack.end = end_of(walk.ending);
}

bool StackKeeper::take_python(PythonFrames& into, history::StackWords& stack) noexcept {
  if (!wants_python_ || !has_python_.load(std::memory_order_acquire)) {
    return true;
  }
  const PythonWalk walk = capture_python(python_, texts_, into);
  stack.python = std::span{into}.first(walk.frames);
  if (walk.outcome == PythonOutcome::Full) {
    stack.python_end = history::StackEnd::Cut;
  } else if (walk.outcome != PythonOutcome::Taken && walk.outcome != PythonOutcome::Foreign) {
    stack.python_end = history::StackEnd::Lost;
    return false;
  }
  return true;
}

history::StackId StackKeeper::keep(std::uint64_t now_ns) noexcept {
  Addresses addresses;  // both uninitialised: what is taken fills them
  PythonFrames python;
  history::StackWords stack;
  const bool is_look_due = is_look_due_.load(std::memory_order_relaxed);
  if (wants_native_ || is_look_due) {
    take_native(addresses, stack);
  }
  if (is_look_due) [[unlikely]] {
    look(stack, now_ns);  // before Python's are taken: this may be what finds the interpreter
  }
  if (!wants_native_) {
    stack = {};
  }
  const bool has_python_frames = take_python(python, stack);
  stack.generation = modules_.generation_of(stack.addresses);
  const history::KeptStack kept = tables_.intern_stack(stack, now_ns);
  if (kept.is_new) {
    list(stack, now_ns);
    if (!has_python_frames) {
      tables_.count_omitted_python();
    }
  }
  return kept.number;
}

}  // namespace tidemark::stacks
