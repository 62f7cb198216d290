#include "shim/runtime/out_of_memory_line.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>

#include "shim/runtime/log.hpp"
#include "shim/runtime/size_words.hpp"

namespace tidemark::runtime {
namespace {

struct LimitWords {
  explicit LimitWords(std::uint64_t limit) noexcept {
    if (limit != 0) {
      std::snprintf(text, sizeof text, ", limit %s", SizeWords{limit}.text());
    }
  }
  char text[64] = "";
};

struct DeviceWords {
  DeviceWords(std::uint64_t free, std::uint64_t total) noexcept {
    if (total != 0) {
      std::snprintf(text, sizeof text, ", device has %s free of %s", SizeWords{free}.text(), SizeWords{total}.text());
    }
  }
  char text[128] = "";
};

struct Refusal {
  std::uint64_t times;
  std::uint64_t requested;
  std::uint64_t allocated;
  std::uint64_t reserved;
  std::uint64_t largest_free;
  std::uint64_t limit;
  std::uint64_t device_free;
  std::uint64_t device_total;

  [[nodiscard]] bool is_by_limit() const noexcept { return limit != 0 && requested + reserved > limit; }
};

// Of its own, so that all the counters aren't on the stack together with the text: it may be a small one.
[[gnu::noinline]] Refusal last_refusal(ServedDevice& device) noexcept {
  const DeviceBasis basis = device.cache().counters();
  return {.times = basis[BasisWord::oom_count_lifetime],
          .requested = basis[BasisWord::oom_requested_bytes],
          .allocated = basis[BasisWord::oom_allocated_bytes],
          .reserved = basis[BasisWord::oom_reserved_bytes],
          .largest_free = basis[BasisWord::oom_largest_free_block_bytes],
          .limit = basis[BasisWord::limit_bytes],
          .device_free = basis[BasisWord::oom_device_free_bytes],
          .device_total = basis[BasisWord::oom_device_total_bytes]};
}

}  // namespace

void say_out_of_memory(ServedDevice& device) noexcept {
  const Refusal last = last_refusal(device);
  if (!std::has_single_bit(last.times) || !(device.is_visible() || last.is_by_limit())) {
    return;
  }
  log_line(LogLevel::Warn, "%s:%u: out of memory%s: %s refused; allocated %s, reserved %s, largest free block %s%s%s",
           backend_text(device.key().layer), static_cast<unsigned>(device.key().ordinal),
           last.is_by_limit() ? " by the limit" : "", SizeWords{last.requested}.text(),
           SizeWords{last.allocated}.text(), SizeWords{last.reserved}.text(), SizeWords{last.largest_free}.text(),
           LimitWords{last.limit}.text, DeviceWords{last.device_free, last.device_total}.text);
}

}  // namespace tidemark::runtime
