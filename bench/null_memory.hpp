// The null driver's memory: a device of 80 GiB whose blocks cost the same whatever came before. Every block starts on a
// 2 MiB boundary, as a driver's large ones do, and takes 512 B units of the device, as a driver packs its small ones. A
// freed address is handed out again for the next block that is as long. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "bench/null_counts.hpp"

namespace tidemark::bench {

class NullMemory {
 public:
  static constexpr std::uint64_t kCapacity = std::uint64_t{80} << 30;

  // 0: the device is full.
  std::uint64_t allocate(std::uint64_t size) noexcept {
    const std::uint64_t bytes = (size + kUnit - 1) / kUnit * kUnit;
    const std::uint64_t granules = (size + kGranule - 1) / kGranule;
    const Turn turn{busy_};
    if (bytes == 0 || bytes > kCapacity - counts_.used_bytes) {
      return 0;
    }
    std::uint32_t granule = free_[granules];
    if (granule != 0) {
      free_[granules] = next_free_[granule];
    } else if (granules < kGranules - used_granules_) {
      granule = static_cast<std::uint32_t>(used_granules_ + 1);  // 0 is none
      used_granules_ += granules;
    } else {
      return 0;
    }
    units_[granule] = static_cast<std::uint32_t>(bytes / kUnit);
    ++counts_.allocations;
    counts_.used_bytes += bytes;
    counts_.peak_bytes = counts_.used_bytes > counts_.peak_bytes ? counts_.used_bytes : counts_.peak_bytes;
    return kFirst + granule * kGranule;
  }

  // False: no block starts there.
  bool release(std::uint64_t address) noexcept {
    const std::uint64_t granule = (address - kFirst) / kGranule;
    const Turn turn{busy_};
    if (address < kFirst || granule > used_granules_ || (address - kFirst) % kGranule != 0 || units_[granule] == 0) {
      return false;
    }
    const std::uint64_t bytes = std::uint64_t{units_[granule]} * kUnit;
    const std::uint64_t granules = (bytes + kGranule - 1) / kGranule;
    units_[granule] = 0;
    next_free_[granule] = free_[granules];
    free_[granules] = static_cast<std::uint32_t>(granule);
    ++counts_.frees;
    counts_.used_bytes -= bytes;
    return true;
  }

  NullCounts counts() noexcept {
    const Turn turn{busy_};
    return counts_;
  }

 private:
  // Held for a few nanoseconds by whoever calls: nothing to sleep for.
  class Turn {
   public:
    explicit Turn(std::atomic_flag& busy) noexcept : busy_(busy) {
      while (busy_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Turn() { busy_.clear(std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic_flag& busy_;
  };

  static constexpr std::uint64_t kUnit = 512;
  static constexpr std::uint64_t kGranule = std::uint64_t{2} << 20;
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kGranules = std::uint64_t{16} << 40 >> 21;  // 16 TiB of addresses
  static constexpr std::uint64_t kMostGranules = kCapacity / kGranule;

  std::atomic_flag busy_;
  NullCounts counts_;
  // All zero, and mostly untouched: neither the library's file nor the process holds what is never used.
  std::uint64_t used_granules_ = 0;
  std::uint32_t free_[kMostGranules + 1]{};  // by length
  std::uint32_t units_[kGranules]{};         // of the block that starts there
  std::uint32_t next_free_[kGranules]{};
};

}  // namespace tidemark::bench
