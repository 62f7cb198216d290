#include "shim/publish/publisher.hpp"

#include <time.h>

#include <utility>

namespace tidemark::publish {
namespace {

constexpr std::chrono::seconds kBeat{1};
constexpr std::uint64_t kPollInCallsNs = 100'000'000;

// The coarse clock (7 ns instead of 23, research on shared memory section 2.3): a tick of 4 ms doesn't matter here.
std::uint64_t coarse_monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Status Publisher::start(const Settings& settings) noexcept {
  segment::WriterOptions options = settings.segment;
  options.control_policy = settings.control;
  options.control = settings.control == segment::ControlPolicy::Off ? nullptr : &control::companion_file();
  auto created = segment::SegmentWriter::create(options);
  if (!created) {
    return created.error();
  }
  writer_.emplace(std::move(created).value());
  count_hooks_ = settings.count_hooks;
  if (options.control != nullptr) {
    control_.emplace(*writer_, desk_, settings.control);
  }
  if (settings.has_thread && start_service_thread(*this)) {
    writer_->set_flag(segment::ProcessFlag::ServiceThread, true);
  } else {
    polls_in_calls_ = true;
  }
  return {};
}

void Publisher::add_device(alloc::DeviceCache& cache, DeviceSink& sink, bool has_background_driver_calls) noexcept {
  if (!writer_) {
    return;
  }
  sink.open(*writer_);
  cache.publish_all();
  if (sink.slot() != DeviceSink::kNoSlot) {
    desk_.add_device({.cache = &cache, .sink = &sink, .has_background_driver_calls = has_background_driver_calls});
  }
}

void Publisher::serve_once() noexcept {
  if (control_) {
    control_->wait(kBeat);
  } else {
    const timespec beat{.tv_sec = kBeat.count(), .tv_nsec = 0};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &beat, nullptr);
  }
  attend();
  const std::uint64_t now = coarse_monotonic_ns();
  if (now >= next_poll_ns_.load(std::memory_order_relaxed)) {
    next_poll_ns_.store(now + std::chrono::nanoseconds{kBeat}.count(), std::memory_order_relaxed);
    writer_->beat(count_hooks_ == nullptr ? segment::HookCounts{} : count_hooks_());
  }
}

void Publisher::attend() noexcept {
  if (control_) {
    control_->poll();
    desk_.settle_deferred(*control_);
  }
}

bool Publisher::is_poll_due() noexcept {
  const std::uint64_t now = coarse_monotonic_ns();
  std::uint64_t due = next_poll_ns_.load(std::memory_order_relaxed);
  return now >= due && next_poll_ns_.compare_exchange_strong(due, now + kPollInCallsNs, std::memory_order_relaxed);
}

void Publisher::set_layer(segment::Layer layer) noexcept {
  if (writer_) {
    writer_->set_layer(layer);
  }
}

void Publisher::set_mode(segment::ProcessMode mode, std::string_view reason) noexcept {
  if (writer_) {
    writer_->set_mode(mode, reason);
  }
}

void Publisher::set_flag(segment::ProcessFlag flag) noexcept {
  if (writer_) {
    writer_->set_flag(flag, true);
  }
}

void Publisher::finish(bool keeps_files) noexcept {
  if (writer_) {
    writer_->mark_exited();
    if (!keeps_files) {
      writer_->remove_files();
    }
  }
}

}  // namespace tidemark::publish
