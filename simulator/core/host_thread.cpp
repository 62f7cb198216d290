#include "simulator/core/host_thread.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "simulator/core/scheduler_parts.hpp"

namespace sim {
namespace {

// With the automatic clock and no driver call for that long, host functions run all the same: a program may wait for
// one without calling the driver again.
constexpr std::chrono::milliseconds kPatience{2};

thread_local bool t_is_host_thread = false;

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Scheduler::HostThread::HostThread(Scheduler& scheduler) : scheduler_(scheduler) {
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (const std::system_error&) {
    throw std::bad_alloc{};
  }
}

Scheduler::HostThread::~HostThread() {
  {
    const std::lock_guard lock{scheduler_.mutex_};
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

bool Scheduler::HostThread::is_this_thread() { return t_is_host_thread; }

void Scheduler::HostThread::expect_one() {
  ++expected_;
  changed_.notify_one();
}

void Scheduler::HostThread::hand_over(const std::shared_ptr<Piece>& piece) {
  ready_.push_back(piece);
  changed_.notify_one();
}

void Scheduler::HostThread::run() {
  t_is_host_thread = true;
  std::unique_lock lock{scheduler_.mutex_};
  while (!stopping_) {
    if (ready_.empty()) {
      wait_for_work(lock);
      continue;
    }
    const auto piece = ready_.front();
    ready_.pop_front();
    const auto host = std::get<HostFunction>(piece->work);
    lock.unlock();
    host.function(host.data);
    lock.lock();
    --expected_;
    scheduler_.finish(piece);
    scheduler_.complete_due(scheduler_.now());
    scheduler_.host_done_.notify_all();
  }
}

void Scheduler::HostThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (expected_ == 0 || scheduler_.mode_ == ClockMode::Manual) {
    changed_.wait(lock);
    return;
  }
  const Ticks before = scheduler_.now();
  const bool in_time = changed_.wait_for(lock, kPatience) == std::cv_status::no_timeout;
  if (!in_time && ready_.empty() && expected_ > 0 && scheduler_.now() == before) hurry();
}

// Completes what the earliest host function waits for, and hands it over.
void Scheduler::HostThread::hurry() {
  const auto& pending = scheduler_.pending_;
  const auto first = std::find_if(pending.begin(), pending.end(), [](const auto& p) { return p->is_host_function(); });
  if (first == pending.end()) return;
  const Ticks end = (*first)->end;
  for (const auto& piece : closure_of({*first})) scheduler_.run_if_ready(piece);
  scheduler_.move_clock_to(end);
}

}  // namespace sim
