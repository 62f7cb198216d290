#include "viewer/node/node_watch.hpp"

#include "viewer/blocked_signals.hpp"
#include "viewer/node/kernel_driver.hpp"
#include "viewer/node/nvml.hpp"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tidemark::viewer {
namespace {

constinit std::atomic<bool> g_has_left_one{false};

// The kernel's word where NVML has none: it knows which is which, but no memory.
NodeWatch::Look open_node() {
  return [nvml = Nvml::open()] {
    NodeFacts facts = nvml.look();
    if (!facts.no_nvml.empty()) {
      facts.devices = gpus_of_kernel_driver();
    }
    return facts;
  };
}

}  // namespace

// Outlives the watch while a call hangs.
struct NodeWatch::Shared {
  Open open;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_asked = false;
  bool is_busy = false;
  bool is_late = false;  // the one at work has used up somebody's patience
  bool stop = false;
  std::optional<NodeFacts> newest;
  std::thread thread;
};

NodeWatch::NodeWatch() : NodeWatch(kPatience) {}

NodeWatch::NodeWatch(std::chrono::milliseconds patience) : NodeWatch(open_node, patience) {}

NodeWatch::NodeWatch(Open open, std::chrono::milliseconds patience)
    : shared_(std::make_shared<Shared>()), patience_(patience) {
  shared_->open = std::move(open);
}

NodeWatch::~NodeWatch() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  const bool is_busy = shared_->is_busy;
  std::thread thread = std::move(shared_->thread);
  lock.unlock();
  if (!thread.joinable()) {
    return;
  }
  if (is_busy) {
    g_has_left_one = true;
    thread.detach();
  } else {
    thread.join();
  }
}

bool NodeWatch::has_left_one() { return g_has_left_one; }

void NodeWatch::work(const std::shared_ptr<Shared>& shared) {
  Look look;
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->stop || shared->is_asked; });
    if (shared->stop) {
      return;
    }
    shared->is_asked = false;
    lock.unlock();
    NodeFacts facts;
    try {
      if (!look) {
        look = shared->open();
      }
      facts = look();
    } catch (const std::exception& error) {
      facts.no_nvml = error.what();
    }
    lock.lock();
    shared->newest = std::move(facts);
    shared->is_busy = false;
    shared->is_late = false;
    shared->changed.notify_all();
  }
}

void NodeWatch::ask() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->is_busy) {
    return;  // its answer will do
  }
  shared_->is_asked = true;
  shared_->is_busy = true;
  if (!shared_->thread.joinable()) {
    const BlockedSignals blocked = BlockedSignals::but_crashes();
    shared_->thread = std::thread([shared = shared_] { work(shared); });
  }
  shared_->changed.notify_all();
}

NodeFacts NodeWatch::answer() {
  std::unique_lock lock(shared_->mutex);
  if (!shared_->is_late) {
    shared_->is_late = !shared_->changed.wait_for(lock, patience_, [&] { return !shared_->is_busy; });
  }
  NodeFacts facts = shared_->newest.value_or(NodeFacts{});
  if (shared_->is_late) {
    facts.no_nvml = fmt::format("libnvidia-ml.so.1 has not answered for more than {:.1f} s",
                                std::chrono::duration<double>{patience_}.count());
  }
  return facts;
}

void NodeWatch::answer_into(View& view) { add_node(view, answer()); }

void add_node(View& view, NodeFacts facts) {
  view.node = std::move(facts);
  for (ProcessView& process : view.processes) {
    for (DeviceView& device : process.devices) {
      const NodeFact* const fact = fact_of(view.node, device);
      device.node_index = fact != nullptr ? fact->index : std::nullopt;
    }
  }
}

void number_devices(View& view, std::string_view device) {
  if (device.starts_with("gpu:")) {
    NodeWatch node;
    node.ask();
    node.answer_into(view);
  }
}

}  // namespace tidemark::viewer
