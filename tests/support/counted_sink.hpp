// A StatsSink that keeps what was published, as a reader of the segment would see it, and holds every state to the
// invariants of DESIGN §4. One device's.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/device_basis.hpp"
#include "shim/alloc/stats_sink.hpp"

namespace tidemark::test {

// Empty, or the invariant that `basis` breaks.
[[nodiscard]] std::string broken_invariant(const DeviceBasis& basis);

class CountedSink final : public alloc::StatsSink {
 public:
  void publish(const DeviceBasis& basis, BasisLines changed) noexcept override;

  [[nodiscard]] const DeviceBasis& seen() const { return seen_; }
  [[nodiscard]] std::uint64_t publications() const { return publications_; }
  // The first broken invariant, or the first line that changed without being said to have.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  DeviceBasis seen_{};
  std::uint64_t publications_ = 0;
  std::string complaint_;
};

}  // namespace tidemark::test
