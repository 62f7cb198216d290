#include "viewer/tui/sampler.hpp"

#include "viewer/blocked_signals.hpp"

#include <exception>
#include <utility>

namespace tidemark::viewer {

Sampler::Sampler(Look look, std::chrono::milliseconds interval, std::function<void()> on_news)
    : look_(std::move(look)), on_news_(std::move(on_news)), interval_(interval) {
  const BlockedSignals blocked = BlockedSignals::but_crashes();
  thread_ = std::thread([this] { run(); });
}

Sampler::~Sampler() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Sampler::set_interval(std::chrono::milliseconds interval) {
  const std::lock_guard lock(mutex_);
  interval_ = interval;
  changed_.notify_all();
}

void Sampler::set_focus(const Focus& focus) {
  const std::lock_guard lock(mutex_);
  if (focus_ != focus) {
    focus_ = focus;
    is_due_ = true;
    changed_.notify_all();
  }
}

void Sampler::order(Job job) {
  const std::lock_guard lock(mutex_);
  job_ = std::move(job);
  changed_.notify_all();
}

std::shared_ptr<const Sample> Sampler::newest() const {
  const std::lock_guard lock(mutex_);
  return sample_;
}

std::optional<Sampler::Effect> Sampler::take_effect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(effect_, std::nullopt);
}

// Returns at the next look's time, at once with a job, or when it is over.
std::optional<Sampler::Job> Sampler::wait_for_work(std::unique_lock<std::mutex>& lock) {
  while (!stop_ && !job_ && !is_due_ && last_look_ && std::chrono::steady_clock::now() < *last_look_ + interval_) {
    changed_.wait_until(lock, *last_look_ + interval_);
  }
  return std::exchange(job_, std::nullopt);
}

void Sampler::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    std::optional<Effect> effect;
    if (auto job = wait_for_work(lock); job && sample_) {
      const std::shared_ptr<const Sample> sample = sample_;
      lock.unlock();
      try {
        effect = (*job)(sample->view);
      } catch (const std::exception& error) {
        effect = {.text = error.what(), .failed = true};
      }
      lock.lock();
    }
    if (stop_) {
      break;
    }
    last_look_ = std::chrono::steady_clock::now();
    is_due_ = false;
    const Focus focus = focus_;
    const std::chrono::milliseconds interval = interval_;
    lock.unlock();
    std::shared_ptr<const Sample> fresh;
    try {
      fresh = std::make_shared<const Sample>(look_(focus, interval));
    } catch (const std::exception& error) {
      effect = {.text = error.what(), .failed = true};
    }
    lock.lock();
    sample_ = fresh ? std::move(fresh) : sample_;
    effect_ = effect ? std::move(effect) : effect_;
    lock.unlock();
    on_news_();
    lock.lock();
  }
}

}  // namespace tidemark::viewer
