// Looks at the machine in a thread of its own, so that keys never wait for a slow look; also does what keys ask for, so
// that the next look shows its effect.
#pragma once

#include "viewer/model/view.hpp"
#include "viewer/tui/sample.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tidemark::viewer {

class Sampler {
 public:
  // Is told when the next look will be.
  using Look = std::function<Sample(const Focus&, std::chrono::milliseconds interval)>;
  // What an order came to, for the message line.
  struct Effect {
    std::string text;
    bool failed = false;
  };
  using Job = std::function<Effect(const View&)>;

  // `on_news` is called in the sampler's thread after each look and each job.
  Sampler(Look look, std::chrono::milliseconds interval, std::function<void()> on_news);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void set_interval(std::chrono::milliseconds interval);
  // Looks again at once if that is another one.
  void set_focus(const Focus& focus);
  // Does `job` on the newest look, then looks again at once. One at a time: a second one replaces one not begun.
  void order(Job job);

  // The newest look; empty before the first.
  [[nodiscard]] std::shared_ptr<const Sample> newest() const;
  // The last job's effect, once.
  [[nodiscard]] std::optional<Effect> take_effect();

 private:
  void run();
  std::optional<Job> wait_for_work(std::unique_lock<std::mutex>& lock);

  Look look_;
  std::function<void()> on_news_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::milliseconds interval_;
  // None before the first: the clock begins at boot, so no time at all is long enough ago.
  std::optional<std::chrono::steady_clock::time_point> last_look_;
  Focus focus_;
  bool is_due_ = false;
  bool stop_ = false;
  std::optional<Job> job_;
  std::optional<Effect> effect_;
  std::shared_ptr<const Sample> sample_;
  std::thread thread_;
};

}  // namespace tidemark::viewer
