// Asks the machine about its devices, again and again, without ever waiting for it longer than its patience: NVML is
// called in a thread of its own, opened once. A driver that hangs costs one wait; from then on the newest answer that
// came is given, with its age.
//
//   NodeWatch node;
//   node.ask();                    // at once
//   View view = collect(...);      // meanwhile
//   node.answer_into(view);
//
// Threads: one at a time.
#pragma once

#include "viewer/model/view.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

namespace tidemark::viewer {

class NodeWatch {
 public:
  using Look = std::function<NodeFacts()>;
  // Called in the thread, once; what it gives is called for each look.
  using Open = std::function<Look()>;

  // Opening a driver that has to wake eight GPUs takes seconds; nobody waits longer for a table.
  static constexpr std::chrono::milliseconds kPatience{2000};

  NodeWatch();
  explicit NodeWatch(std::chrono::milliseconds patience);
  // For tests.
  NodeWatch(Open open, std::chrono::milliseconds patience);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;
  ~NodeWatch();  // doesn't wait for a call that hangs

  // Has one been left behind in a call that hangs? The process may end only by _exit() then: the thread could be
  // anywhere in the loader or the driver, whose handlers would wait for it.
  [[nodiscard]] static bool has_left_one();

  void ask();
  // Requires: ask().
  [[nodiscard]] NodeFacts answer();
  void answer_into(View& view);

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
  std::chrono::milliseconds patience_;
};

// Puts what is known of the node's devices into `view`, and its index beside each device of a process.
void add_node(View& view, NodeFacts facts);

// Looks at the node if this word of a command line (--device) needs it: "gpu:1".
void number_devices(View& view, std::string_view device);

}  // namespace tidemark::viewer
