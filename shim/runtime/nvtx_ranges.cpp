#include "shim/runtime/nvtx_ranges.hpp"

#include <bit>
#include <cstring>

#include "shim/runtime/log.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {
namespace {

using ranges::RowValues;

// Marks: a phase's ticket (above 0), nvtx::kNoRoom, or one of these.
constexpr nvtx::Mark kFromTheStart = 0;  // it began before there was anything to measure
constexpr nvtx::Mark kNotKept = -2;

publish::RangeName name_of(const nvtx::Range& range) noexcept {
  if (range.message == nullptr) {
    return publish::kOtherRanges;
  }
  if (range.domain == nullptr) {
    return {.domain = {}, .message = range.message->view(), .hash = range.message->hash};
  }
  return {.domain = range.domain->view(),
          .message = range.message->view(),
          .hash = range.message->hash ^ std::rotl(range.domain->hash, 23)};
}

RowValues since_begin(ServedDevice& device, unsigned slot, std::uint64_t at_begin) noexcept {
  const alloc::PeakValues peaks = device.cache().end_peak_slot(slot);
  return {.times = 1,
          .unmeasured = 0,
          .allocated_bytes = peaks.allocated.count(),
          .reserved_bytes = peaks.reserved.count(),
          .added_bytes = peaks.allocated.count() - at_begin};
}

// Of a range that is older than the device: its own peaks are all there ever was.
[[gnu::noinline]] RowValues since_start(ServedDevice& device) noexcept {
  const DeviceBasis basis = device.cache().counters();
  const std::uint64_t allocated = basis[BasisWord::lifetime_peak_allocated_bytes];
  return {.times = 1,
          .unmeasured = 0,
          .allocated_bytes = allocated,
          .reserved_bytes = basis[BasisWord::lifetime_peak_reserved_bytes],
          .added_bytes = allocated};
}

class RangeMeasure final : public nvtx::Measure {
 public:
  nvtx::Mark begin() noexcept override {
    Runtime* const runtime = runtime_if_built();
    if (runtime == nullptr) {
      return kFromTheStart;
    }
    if (!runtime->ranges().is_kept()) {
      return kNotKept;
    }
    return runtime->open_range().value_or(nvtx::kNoRoom);
  }

  void end(const nvtx::Range& range) noexcept override {
    Runtime* const runtime = runtime_if_built();
    if (runtime == nullptr || range.mark == kNotKept) {
      return;
    }
    const std::optional<unsigned> slot = range.mark > 0 ? runtime->phases().slot_of(range.mark) : std::nullopt;
    if (range.mark > 0 && !slot) {
      return;
    }
    const publish::RangeName name = name_of(range);
    runtime->for_each_device([&](ServedDevice& device) {
      if (!device.is_visible() || device.sink().slot() == publish::DeviceSink::kNoSlot) {
        return;
      }
      const RowValues values = slot ? since_begin(device, *slot, runtime->allocated_at_begin(*slot, device))
                               : range.mark == kFromTheStart ? since_start(device)
                                                             : RowValues{.times = 1, .unmeasured = 1};
      // A device on which the process held nothing all the while has no part in it.
      if (values.reserved_bytes > 0 || values.allocated_bytes > 0 || values.unmeasured > 0) {
        count(*runtime, name, device, values);
      }
    });
    (void)runtime->phases().close(range.mark);
  }

  void drop(nvtx::Mark mark) noexcept override {
    Runtime* const runtime = runtime_if_built();
    const std::optional<unsigned> slot = runtime == nullptr ? std::nullopt : runtime->phases().slot_of(mark);
    if (slot) {
      runtime->for_each_device([&](ServedDevice& device) { device.cache().end_peak_slot(*slot); });
      (void)runtime->phases().close(mark);
    }
  }

 private:
  static void count(Runtime& runtime, const publish::RangeName& name, ServedDevice& device,
                    const RowValues& values) noexcept {
    if (const Status counted = runtime.ranges().count(name, device.sink().slot(), values); !counted) {
      const bool has_no_name = counted.error().code == ErrorCode::Unsupported;
      log_line(LogLevel::Error, "no table of NVTX ranges: %s%s",
               has_no_name ? "there is no segment with a name to put it beside (TIDEMARK_SHM)"
                           : "cannot put it beside the segment: ",
               has_no_name ? "" : strerror(counted.error().native));
    }
  }
};

constinit RangeMeasure measure;

}  // namespace

constinit nvtx::Ranges nvtx_ranges{measure};

// Devices that come later begin with nothing allocated.
std::optional<std::int64_t> Runtime::open_range() noexcept {
  const std::optional<std::int64_t> phase = phases_.open();
  if (phase) {
    const unsigned slot = *phases_.slot_of(*phase);
    auto& allocated = allocated_at_begin_[slot - alloc::DeviceCache::kPeakSlots];
    allocated.fill(0);
    for_each_device([&](ServedDevice& device) {
      allocated[place_of(device)] = device.cache().reset_peak_slot(slot).allocated.count();
    });
  }
  return phase;
}

}  // namespace tidemark::runtime
