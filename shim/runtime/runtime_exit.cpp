// Runtime: the end of the process.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "shared/base/scratch.hpp"
#include "shared/segment/proc_file.hpp"
#include "shim/alloc/clock.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/exit_report.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {
namespace {

// What is too large for a small stack.
struct Report {
  std::array<DeviceAtExit, Runtime::kMostDevices> devices;
  std::size_t count = 0;
  std::array<char, 256> command{};
  std::array<char, 2048> text;
};

// As it was typed, without its arguments: they can hold secrets.
std::string_view read_command(std::span<char> into) noexcept {
  constexpr std::string_view kMore = " ...";
  const std::string_view all = segment::read_start_of("/proc/self/cmdline", into.first(into.size() - kMore.size()));
  const std::size_t first = std::min(all.find('\0'), all.size());
  if (first + 1 >= all.size()) {
    return all.substr(0, first);
  }
  std::memcpy(into.data() + first, kMore.data(), kMore.size());
  return {into.data(), first + kMore.size()};
}

// Another thread may be in the middle of a call, or this one, if it is in a signal handler.
[[gnu::noinline]] bool summarise(ServedDevice& device, DeviceAtExit& into) noexcept {
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    if (const auto basis = device.cache().counters_unless_busy()) {
      into = at_exit(backend_text(device.key().layer), device.key().ordinal, *basis);
      return true;
    }
    ::sched_yield();
  }
  return false;
}

}  // namespace

void Runtime::finish() noexcept {
  const hook::CancellationAway cancellation;
  const bool had_out_of_memory = had_out_of_memory_.load(std::memory_order_relaxed);
  const bool keeps_files = options_.keep == Keep::All || (options_.keep == Keep::Auto && had_out_of_memory);
  if (!options_.report.empty()) {
    report(keeps_files);
  }
  publisher_.finish(keeps_files);
}

void Runtime::report(bool keeps_files) noexcept {
  const Scratch<Report> report;
  if (!report) {
    return;
  }
  const std::size_t count = count_.load(std::memory_order_acquire);
  bool splits = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (place(i).is_visible() && summarise(place(i), report->devices[report->count])) {
      ++report->count;
      splits |= place(i).key().layer == Layer::Mtia;
    }
  }
  const std::string_view conf = options_.alloc_conf.view();
  const ProcessAtExit process{.command = read_command(report->command),
                              .pid = ::getpid(),
                              .lived_ns = alloc::Clock::system().monotonic_ns() - started_ns_,
                              .is_counting = is_counting(),
                              .waits_in_frees = options_.free == Free::Strict,
                              .splits = conf.find("large:") == std::string_view::npos
                                            ? splits
                                            : conf.find("large:split") != std::string_view::npos,
                              // Whoever began the run takes its files away (run --expect).
                              .is_kept = keeps_files && publisher_.is_published() && options_.run_id.empty(),
                              .is_recorded = historian().is_recording(),
                              .oom_snapshots = options_.snapshot_on_oom.view()};
  const std::size_t length = exit_report(process, std::span{report->devices}.first(report->count), report->text);
  if (length > 0) {
    write_exit_report(options_.report.view(), {report->text.data(), length});
  }
}

}  // namespace tidemark::runtime
