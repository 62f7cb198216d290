// How one device's memory is cached: a value, fixed when the cache is made (mode and limit can change later, see
// DeviceCache). Sizes are bytes. A default-constructed policy is CUDA's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "shared/base/bytes.hpp"
#include "shared/base/device_basis.hpp"

namespace tidemark::alloc {

// What happens to a request above `small_limit`.
enum class LargeRequests : std::uint8_t {
  Whole,  // a segment of its own at offset 0, cached whole: NCCL, UCX, IPC and GPUDirect take a large pointer for a
          // base address
  Split,  // PyTorch's large pool: cut from bigger segments
};

// When a freed block may be handed out again.
enum class FreeMode : std::uint8_t {
  Strict,  // the free waits for the device, as programs expect of the native one
  Fast,    // the free returns at once; the block waits for a fence
};

// What blocks contain (TIDEMARK_FILL): a debugging aid, at the price of a driver call for each block.
enum class Fill : std::uint8_t {
  None,    // what they contained before, as memory from the driver may
  Zero,    // handed out zeroed
  Poison,  // filled with kPoison once the program has freed them and no device work uses them any more
};

// NaN in every floating-point format that devices compute with, and -1 as an index: what is read after its free shows.
inline constexpr unsigned char kPoison = 0xFF;

struct Policy {
  DeviceMode mode = DeviceMode::Cache;
  FreeMode free_mode = FreeMode::Strict;
  Fill fill = Fill::None;
  LargeRequests large_requests = LargeRequests::Whole;

  Bytes small_limit = 1_MiB;     // up to here (after rounding) a request is cut from a small segment
  Bytes small_segment = 2_MiB;   // what the driver's own pages are
  Bytes large_rounding = 2_MiB;  // sizes of large segments are multiples of it

  // Whole: a cached segment S serves a rounded request R only if S - R <= S / whole_waste_divisor.
  std::uint64_t whole_waste_divisor = 8;

  // Split: below `large_segment_below` a request is cut from a segment of `large_segment`; a rest up to
  // `least_large_rest` stays with its block.
  Bytes large_segment = 20_MiB;
  Bytes large_segment_below = 10_MiB;
  Bytes least_large_rest = 1_MiB;
  std::optional<Bytes> max_split_size;    // blocks from here on are not split; none = unlimited
  Bytes max_non_split_rounding = 20_MiB;  // by how much a block may exceed a request from max_split_size on

  // Slot n: how many equal steps a power of two in [2^n, 2^(n+1)) MiB is rounded up to; the first slot also serves what
  // is smaller, the last what is larger. 0 or 1 = plain rounding.
  std::array<std::uint32_t, 16> roundup_power2_divisions{};

  // Before a driver allocation that would take reserved bytes past M + max(M / growth_divisor, growth_slack), M being
  // the most that was ever active, this request included, idle segments go back first. Live of reserved peak, and
  // driver calls in two passes, on recorded programs (docs/performance.md): whole 0.854 and 3,464 by a fourth, 0.893
  // and 4,748 by an eighth, 0.914 and 5,531 by a sixteenth; split 0.888 and 894, 0.893 and 915, 0.900 and 1,035.
  bool growth_gate = true;
  std::uint64_t growth_divisor = 8;
  Bytes growth_slack = 128_MiB;

  std::optional<Bytes> limit;                 // reserved bytes may not pass it
  double garbage_collection_threshold = 0.0;  // share of the limit above which old idle segments go back; 0 = off
  std::optional<Bytes> max_cached;            // cached bytes above it go back at the next free
  std::optional<std::uint64_t> max_idle_ns =
      10'000'000'000;         // segments idle for longer go back in the program's next free or miss,
  Bytes idle_floor = 64_MiB;  // but not below this many cached bytes

  [[nodiscard]] static Policy cuda_default() { return {}; }
  [[nodiscard]] static Policy mtia_default() {
    Policy policy;
    policy.large_requests = LargeRequests::Split;
    return policy;
  }

  // Null, or the name of the option (as in TIDEMARK_ALLOC_CONF) that contradicts the others or lies out of bounds.
  [[nodiscard]] const char* contradiction() const;
};

}  // namespace tidemark::alloc
