// The stack of an allocation as one number of a history: taken, put together from the native and the Python frames,
// kept once, and the objects that it leads through written down beside it.
//
// Some 80 KiB, so not for a stack. Threads: any, without a lock of the allocator's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/history/process_tables.hpp"
#include "shared/history/words.hpp"
#include "shim/stacks/module_watch.hpp"
#include "shim/stacks/python_frames.hpp"

namespace tidemark::stacks {

class StackKeeper {
 public:
  static constexpr std::size_t kMostFrames = 64;  // of each kind

  // `tables` outlives the keeper.
  StackKeeper(history::ProcessTables& tables, history::Stacks wanted) noexcept;

  // The calling thread's, beginning in whoever called this library. 0: nothing was wanted or there, or there is no room
  // (which the tables count).
  [[nodiscard]] history::StackId keep(std::uint64_t now_ns) noexcept;

  // From any thread, now and then: the next stack that is taken looks at what has become of the objects that stacks led
  // through. What was unloaded is told apart from what comes in its place.
  void ask_for_a_look() noexcept { is_look_due_.store(true, std::memory_order_relaxed); }

 private:
  using Addresses = std::array<std::uint64_t, kMostFrames>;
  using PythonFrames = std::array<history::PythonFrame, kMostFrames>;

  void look(const history::StackWords& stack, std::uint64_t now_ns) noexcept;
  void list(const history::StackWords& stack, std::uint64_t now_ns) noexcept;
  void look_for_python(const link_map& object) noexcept;
  void take_native(Addresses& into, history::StackWords& stack) const noexcept;
  // False: this thread's could not be had.
  [[nodiscard]] bool take_python(PythonFrames& into, history::StackWords& stack) noexcept;

  history::ProcessTables& tables_;
  const bool wants_native_;
  const bool wants_python_;
  std::atomic<bool> is_look_due_{true};
  std::atomic_flag is_looking_;
  std::atomic_flag is_finding_;  // guards python_ until has_python_
  std::atomic<bool> has_python_{false};
  PythonFunctions python_{};
  PythonTexts texts_;
  ModuleWatch modules_;
};

}  // namespace tidemark::stacks
