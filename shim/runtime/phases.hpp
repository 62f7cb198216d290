// Scopes with peaks of their own, which nobody's reset touches and which touch nobody (the allocator's peak slots
// behind those of viewers). Any number may be open at once, up to 64; how they nest is their owners' business.
//
// Threads: any. A ticket is good until it is closed, in the process that opened it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "shim/alloc/device_cache.hpp"

namespace tidemark::runtime {

class Phases {
 public:
  // Nothing: 64 are open.
  [[nodiscard]] std::optional<std::int64_t> open() noexcept;
  // False: it is not open.
  [[nodiscard]] bool close(std::int64_t ticket) noexcept;
  // Where its peaks are; nothing: it is not open.
  [[nodiscard]] std::optional<unsigned> slot_of(std::int64_t ticket) const noexcept;

 private:
  static constexpr unsigned kMost = alloc::DeviceCache::kPhaseSlots;

  std::atomic<std::uint64_t> opened_{0};
  std::array<std::atomic<std::int64_t>, kMost> tickets_{};  // 0: free
};

}  // namespace tidemark::runtime
