// The thread that runs host functions, one at a time. Everything but the function itself happens under the scheduler's
// mutex.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <thread>

#include "simulator/core/scheduler.hpp"

namespace sim {

class Scheduler::HostThread {
 public:
  // Throws std::bad_alloc if no thread can be had. All signals are blocked in it: they belong to the program.
  explicit HostThread(Scheduler& scheduler);
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  ~HostThread();

  // One more host function has been submitted. Requires: the scheduler's mutex is held, here and below.
  void expect_one();
  // It may run now.
  void hand_over(const std::shared_ptr<Piece>& piece);

  [[nodiscard]] static bool is_this_thread();

 private:
  void run();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void hurry();

  Scheduler& scheduler_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Piece>> ready_;
  std::size_t expected_ = 0;  // submitted and not yet run
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sim
