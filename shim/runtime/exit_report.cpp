#include "shim/runtime/exit_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "shared/base/scratch.hpp"
#include "shared/segment/derive.hpp"
#include "shim/runtime/log.hpp"
#include "shim/runtime/own_line.hpp"
#include "shim/runtime/path_pattern.hpp"
#include "shim/runtime/size_words.hpp"

namespace tidemark::runtime {
namespace {

using segment::CacheNumbers;

constexpr std::size_t kMostDevices = 3;  // that the first line names
constexpr std::uint64_t kFewAllocations = 100;
constexpr std::uint64_t kWorthSayingNs = 10'000'000;
constexpr std::uint64_t kShareWorthSaying = 100;  // 1/100 of its life

class Text {
 public:
  explicit Text(std::span<char> into) noexcept : into_(into) {}

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    va_list values;
    va_start(values, format);
    const int length = std::vsnprintf(into_.data() + size_, into_.size() - size_, format, values);
    va_end(values);
    size_ = std::min(into_.size() - 1, size_ + static_cast<std::size_t>(std::max(length, 0)));
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::span<char> into_;
  std::size_t size_ = 0;
};

std::uint64_t unsigned_of(std::int64_t value) noexcept { return value < 0 ? 0 : static_cast<std::uint64_t>(value); }

void add_device(Text& text, const DeviceAtExit& device) noexcept {
  text.add("%s peak %s allocated, %s held; ", device.name, SizeWords{device.peak_allocated}.text(),
           SizeWords{device.peak_held}.text());
  if (device.left_bytes == 0) {
    text.add("nothing left at exit");
  } else if (device.left_blocks == 0) {
    text.add("%s left at exit", SizeWords{device.left_bytes}.text());
  } else {
    text.add("%s left at exit (%llu block%s)", SizeWords{device.left_bytes}.text(),
             static_cast<unsigned long long>(device.left_blocks), device.left_blocks == 1 ? "" : "s");
  }
}

// The highest peaks, in the devices' order.
void add_memory(Text& text, std::span<const DeviceAtExit> devices) noexcept {
  std::size_t told = 0;
  for (const DeviceAtExit& device : devices) {
    const auto higher = std::count_if(devices.begin(), devices.end(), [&](const DeviceAtExit& other) {
      return other.peak_held > device.peak_held || (other.peak_held == device.peak_held && &other < &device);
    });
    if (static_cast<std::size_t>(higher) < kMostDevices) {
      text.add("%s", told++ == 0 ? "" : " | ");
      add_device(text, device);
    }
  }
  if (devices.size() > told) {
    text.add(" | and %zu more", devices.size() - told);
  }
}

DeviceAtExit sum_of(std::span<const DeviceAtExit> devices) noexcept {
  DeviceAtExit sum;
  for (const DeviceAtExit& device : devices) {
    sum.left_bytes += device.left_bytes;
    sum.allocations += device.allocations;
    sum.hits += device.hits;
    sum.driver_calls += device.driver_calls;
    sum.driver_ns += device.driver_ns;
    sum.free_wait_ns += device.free_wait_ns;
    sum.ooms += device.ooms;
  }
  return sum;
}

bool is_worth_saying(std::uint64_t ns, const ProcessAtExit& process) noexcept {
  return ns >= kWorthSayingNs && ns >= process.lived_ns / kShareWorthSaying;
}

void add_cost(Text& text, const ProcessAtExit& process, const DeviceAtExit& sum) noexcept {
  const auto calls = static_cast<unsigned long long>(sum.driver_calls);
  if (process.is_counting) {
    text.add("only counted, nothing cached: %llu allocations", static_cast<unsigned long long>(sum.allocations));
  } else {
    const std::uint64_t permille = sum.allocations == 0 ? 0 : (1000 * sum.hits + sum.allocations / 2) / sum.allocations;
    text.add("%llu.%llu %% of %llu allocations from the cache, %llu driver call%s in %s",
             static_cast<unsigned long long>(permille / 10), static_cast<unsigned long long>(permille % 10),
             static_cast<unsigned long long>(sum.allocations), calls, calls == 1 ? "" : "s",
             TimeWords{sum.driver_ns}.text());
  }
  text.add("; frees waited %s for the device", TimeWords{sum.free_wait_ns}.text());
  if (process.waits_in_frees && is_worth_saying(sum.free_wait_ns, process)) {
    text.add(" (TIDEMARK_FREE=fast: they don't)");
  } else if (!process.is_counting && sum.allocations >= kFewAllocations && is_worth_saying(sum.driver_ns, process)) {
    text.add(process.splits ? " (TIDEMARK_ALLOC_CONF=max_idle_s:60: fewer driver calls)"
                            : " (TIDEMARK_ALLOC_CONF=large:split: fewer driver calls)");
  }
}

void add_next(Text& text, const ProcessAtExit& process, const DeviceAtExit& sum) noexcept {
  const auto length = static_cast<int>(process.command.size());
  const char* const command = process.command.data();
  if (process.is_kept && process.is_recorded) {
    text.add("tidemark report %d (who held it, over time)", process.pid);
  } else if (sum.ooms > 0 && !process.oom_snapshots.empty()) {
    text.add("tidemark report FILE, of %.*s (what was where when memory ran out)",
             static_cast<int>(process.oom_snapshots.size()), process.oom_snapshots.data());
  } else if (sum.ooms > 0) {
    text.add(
        "tidemark run --record --snapshot-on-oom '/tmp/%%e-%%p-%%n.tmsnap' -- %.*s (what was where when memory ran "
        "out)",
        length, command);
  } else if (sum.left_bytes > 0) {
    text.add("tidemark run --record --keep all -- %.*s, then tidemark report PID (who holds what is left)", length,
             command);
  } else {
    text.add("tidemark top, beside tidemark run -- %.*s (the same, live)", length, command);
  }
}

}  // namespace

DeviceAtExit at_exit(const char* backend, unsigned ordinal, const DeviceBasis& basis) noexcept {
  const CacheNumbers cache = segment::cache_numbers(basis);
  const std::uint64_t hits = unsigned_of(cache.hits);
  DeviceAtExit device{.peak_allocated = basis[BasisWord::lifetime_peak_allocated_bytes],
                      .peak_held = basis[BasisWord::lifetime_peak_held_bytes],
                      .left_bytes = basis[BasisWord::held_bytes] - unsigned_of(cache.cached_bytes) -
                                    unsigned_of(cache.pending_free_bytes),
                      .left_blocks = basis[BasisWord::small_live_blocks] + basis[BasisWord::large_live_blocks],
                      .allocations = hits + unsigned_of(cache.misses) + unsigned_of(cache.passed_through),
                      .hits = hits,
                      .driver_calls = basis[BasisWord::device_allocs] + basis[BasisWord::device_frees],
                      .driver_ns = unsigned_of(cache.driver_ns),
                      .free_wait_ns = unsigned_of(cache.free_wait_ns),
                      .ooms = basis[BasisWord::oom_count_lifetime]};
  std::snprintf(device.name, sizeof device.name, "%s:%u", backend, ordinal);
  return device;
}

std::size_t exit_report(const ProcessAtExit& process, std::span<const DeviceAtExit> devices,
                        std::span<char> into) noexcept {
  if (devices.empty() || into.empty()) {
    return 0;
  }
  const DeviceAtExit sum = sum_of(devices);
  Text text{into};
  text.add("tidemark: ");
  add_memory(text, devices);
  text.add("\ntidemark: ");
  add_cost(text, process, sum);
  text.add("\ntidemark: next: ");
  add_next(text, process, sum);
  text.add("\n");
  return text.size();
}

void write_exit_report(std::string_view destination, std::string_view report) noexcept {
  if (destination == "stderr" || destination == "terminal") {
    if (destination == "stderr" || ::isatty(STDERR_FILENO) == 1) {
      static_cast<void>(write_own(nullptr, report));
    }
    return;
  }
  const Scratch<PathText> path;
  if (!path) {
    return;
  }
  fill_in(*path, destination, 1);
  if (const int failure = write_own(path->c_str(), report); failure != 0) {
    log_line(LogLevel::Error, "no report in %s: %s", path->c_str(), strerror(failure));
  }
}

}  // namespace tidemark::runtime
