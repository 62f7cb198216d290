// Where the allocator reads the time: a value, so that tests drive it.
// Both functions: any thread, never block, no allocation.
#pragma once

#include <cstdint>

namespace tidemark::alloc {

struct Clock {
  std::uint64_t (*monotonic_ns)() noexcept;  // durations and idle times
  std::uint64_t (*realtime_ns)() noexcept;   // "when", since the Unix epoch

  [[nodiscard]] static Clock system() noexcept;
};

// The time of one operation, read when it is first wanted: most frees don't need it.
class LazyTime {
 public:
  explicit LazyTime(const Clock& clock) : clock_(clock) {}
  LazyTime(const Clock& clock, std::uint64_t known_ns) : clock_(clock), ns_(known_ns) {}

  [[nodiscard]] std::uint64_t ns() noexcept { return ns_ != 0 ? ns_ : ns_ = clock_.monotonic_ns(); }
  [[nodiscard]] bool is_known() const { return ns_ != 0; }

 private:
  const Clock& clock_;
  std::uint64_t ns_ = 0;
};

// Two readings on two cores may differ by less than nothing.
[[nodiscard]] constexpr std::uint64_t elapsed_ns(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

}  // namespace tidemark::alloc
