#include "shim/publish/publisher.hpp"

#include <time.h>

#include <array>
#include <utility>

#include "shared/base/scratch.hpp"

namespace tidemark::publish {
namespace {

constexpr std::chrono::seconds kBeat{1};
constexpr std::uint64_t kBeatNs = 1'000'000'000;
constexpr std::uint64_t kPollInCallsNs = 100'000'000;

using CoverageEntries = std::array<segment::CoverageEntry, segment::kMostCoverageEntries>;

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
  mode_.open(*writer_, settings.mode, settings.mode_reason);
  count_hooks_ = settings.count_hooks;
  on_beat_ = settings.on_beat;
  read_coverage_ = settings.read_coverage;
  show_coverage();
  if (options.control != nullptr) {
    control_.emplace(*writer_, desk_, settings.control);
  }
  historian_.open(*writer_, settings.has_thread);
  ranges_.open(*writer_);
  is_published_.store(true, std::memory_order_release);
  if (settings.has_thread && control_) {
    desk_.allow_thread(*control_);
  }
  if (settings.has_thread && start_service_thread(*this)) {
    writer_->set_flag(segment::ProcessFlag::ServiceThread, true);
  } else {
    polls_in_calls_.store(true, std::memory_order_release);
  }
  return {};
}

void Publisher::start_unpublished(OnBeat on_beat) noexcept {
  on_beat_ = on_beat;
  ranges_.close();
  polls_in_calls_.store(true, std::memory_order_release);
}

Status Publisher::add_device(const ServedDevice& device) noexcept {
  if (is_published()) {
    device.sink->open(*writer_, mode_);
    device.cache->publish_all();
    if (device.sink->slot() != DeviceSink::kNoSlot) {
      desk_.add_device(device);
    }
  }
  return historian_.add_device(*device.cache, *device.sink);
}

void Publisher::add_kinds(alloc::KindBooks& kinds) noexcept {
  if (is_published()) {
    desk_.add_kinds(kinds);
  }
}

void Publisher::show_kinds(const DeviceSink& device, const DeviceKindCounts& counts) noexcept {
  if (is_published() && device.slot() != DeviceSink::kNoSlot) {
    writer_->set_kinds(device.slot(), counts);
  }
}

void Publisher::show_host_kinds(const HostKindCounts& counts) noexcept {
  if (is_published()) {
    writer_->set_host_kinds(counts);
  }
}

// A look at the requests when a viewer rang, and once in the beginning, for one that rang before anybody listened.
void Publisher::serve_once() noexcept {
  bool rang = false;
  if (control_) {
    rang = control_->wait(kBeat);
  } else {
    const timespec beat{.tv_sec = kBeat.count(), .tv_nsec = 0};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &beat, nullptr);
  }
  if (control_ && (rang || !has_polled_)) {
    has_polled_ = true;
    control_->poll();
  }
  settle_deferred();
  beat();
}

void Publisher::beat() noexcept {
  const std::uint64_t now = coarse_monotonic_ns();
  if (now >= next_beat_ns_.load(std::memory_order_relaxed)) {
    next_beat_ns_.store(now + kBeatNs, std::memory_order_relaxed);
    if (on_beat_ != nullptr) {
      on_beat_();
    }
    if (is_published()) {
      const std::uint64_t number = writer_->beat(count_hooks_ == nullptr ? segment::HookCounts{} : count_hooks_());
      desk_.tell_beat(number);
      historian_.set_beat(number);
      show_coverage();
    }
  }
}

void Publisher::show_coverage() noexcept {
  if (read_coverage_ != nullptr) {
    if (const Scratch<CoverageEntries> entries; entries) {
      writer_->set_coverage(std::span{*entries}.first(read_coverage_(*entries)));
    }
  }
}

void Publisher::poll_in_call() noexcept {
  const std::uint64_t now = coarse_monotonic_ns();
  std::uint64_t due = next_poll_ns_.load(std::memory_order_relaxed);
  if (now < due || !next_poll_ns_.compare_exchange_strong(due, now + kPollInCallsNs, std::memory_order_relaxed)) {
    return;
  }
  if (control_) {
    control_->poll();
  }
  beat();
}

void Publisher::settle_deferred() noexcept {
  if (control_) {
    desk_.settle_deferred(*control_);
  }
}

void Publisher::set_mode(segment::ProcessMode mode, std::string_view reason) noexcept {
  if (is_published()) {
    mode_.want(mode, reason);
  }
}

void Publisher::set_inner_pool(segment::InnerPool pool) noexcept {
  if (is_published()) {
    writer_->set_inner_pool(pool);
  }
}

void Publisher::set_layer(segment::Layer layer) noexcept {
  if (is_published()) {
    writer_->set_layer(layer);
  }
}

void Publisher::count_error(const Error& error) noexcept {
  if (is_published()) {
    writer_->count_error(error.code, error.native);
  }
}

void Publisher::set_flag(segment::ProcessFlag flag) noexcept {
  if (is_published()) {
    writer_->set_flag(flag, true);
  }
}

void Publisher::finish(bool keeps_files) noexcept {
  if (is_published()) {
    const Scratch<CoverageEntries> entries;
    const bool has_coverage = entries && read_coverage_ != nullptr;
    writer_->mark_exited(has_coverage ? std::span{*entries}.first(read_coverage_(*entries))
                                      : std::span<const segment::CoverageEntry>{});
    if (!keeps_files) {
      historian_.remove_file();
      ranges_.remove_file();
      writer_->remove_files();
    }
  }
}

}  // namespace tidemark::publish
