// Memory that is not cached but counted (DESIGN D7): by kind, on each device and on the host.
//
// The numbers of the enumerators are places in the segment: never change one, add at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark {

// Each belongs to a device, by which it is listed.
enum class DeviceKind : std::uint32_t {
  Managed,   // cuMemAllocManaged: virtual bytes, whose pages are where they were touched last
  Async,     // cuMemAllocAsync: from the stream's current pool
  Pool,      // cuMemAllocFromPoolAsync
  Vmm,       // cuMemCreate: physical memory, until its handles and mappings are gone
  Array,     // arrays and mipmaps, by their shape: tiling may take more
  Imported,  // IPC, external memory, imported handles and pool pointers: another's memory
  count_
};
inline constexpr std::size_t kDeviceKinds = static_cast<std::size_t>(DeviceKind::count_);

// Each belongs to the process.
enum class HostKind : std::uint32_t {
  Pinned,      // cuMemHostAlloc, cuMemAllocHost
  Registered,  // cuMemHostRegister: the program's own memory, pinned
  Vmm,         // cuMemCreate on the host or one of its NUMA nodes
  Pool,        // from a pool whose memory is the host's
  count_
};
inline constexpr std::size_t kHostKinds = static_cast<std::size_t>(HostKind::count_);

// Does it take memory of the device, so that it is a part of `held`?
[[nodiscard]] constexpr bool is_on_device(DeviceKind kind) noexcept {
  return kind != DeviceKind::Managed && kind != DeviceKind::Imported;
}

// "managed", ..., as in INTERFACE's JSON.
[[nodiscard]] constexpr const char* to_text(DeviceKind kind) noexcept {
  constexpr std::array kNames = {"managed", "async", "pool", "vmm", "array", "imported"};
  static_assert(kNames.size() == kDeviceKinds);
  return kNames[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr const char* to_text(HostKind kind) noexcept {
  constexpr std::array kNames = {"pinned", "registered", "vmm", "pool"};
  static_assert(kNames.size() == kHostKinds);
  return kNames[static_cast<std::size_t>(kind)];
}

// What is counted, for a line of a table.
[[nodiscard]] constexpr const char* meaning_of(DeviceKind kind) noexcept {
  constexpr std::array kMeanings = {"managed memory: addresses, whose pages are where they were touched last",
                                    "from the stream's pool (cudaMallocAsync)",
                                    "from a pool of the program's choice (cudaMallocFromPoolAsync)",
                                    "physical memory (cuMemCreate), as long as a handle or a mapping is left",
                                    "arrays and mipmaps, by their shape; the driver may take more",
                                    "another process's or interface's memory (IPC, external memory)"};
  static_assert(kMeanings.size() == kDeviceKinds);
  return kMeanings[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr const char* meaning_of(HostKind kind) noexcept {
  constexpr std::array kMeanings = {"allocated by the driver (cudaHostAlloc, cudaMallocHost)",
                                    "the program's own, pinned by the driver (cudaHostRegister)",
                                    "physical memory of the host (cuMemCreate)", "from a pool of the host's memory"};
  static_assert(kMeanings.size() == kHostKinds);
  return kMeanings[static_cast<std::size_t>(kind)];
}

struct KindCount {
  std::uint64_t current_bytes = 0;
  std::uint64_t peak_bytes = 0;     // since the last peak reset
  std::uint64_t current_count = 0;  // allocations
  std::uint64_t total_count = 0;    // since the process began

  bool operator==(const KindCount&) const = default;
};
inline constexpr std::size_t kKindWords = 4;
static_assert(sizeof(KindCount) == kKindWords * sizeof(std::uint64_t));

template <std::size_t Kinds>
struct KindCounts {
  std::array<KindCount, Kinds> kinds{};

  template <class Kind>
  [[nodiscard]] KindCount& operator[](Kind kind) noexcept {
    return kinds[static_cast<std::size_t>(kind)];
  }
  template <class Kind>
  [[nodiscard]] const KindCount& operator[](Kind kind) const noexcept {
    return kinds[static_cast<std::size_t>(kind)];
  }
  bool operator==(const KindCounts&) const = default;
};
using DeviceKindCounts = KindCounts<kDeviceKinds>;
using HostKindCounts = KindCounts<kHostKinds>;

}  // namespace tidemark
