// Made-up processes and devices for tests of what is drawn: consistent numbers, fixed times, nothing from this machine.
#pragma once

#include "viewer/model/view.hpp"

#include "shared/base/bytes.hpp"

#include <cstdint>
#include <string>

namespace tidemark::viewer {

inline constexpr std::uint64_t kSampleSecond = 1'000'000'000;
inline constexpr std::uint64_t kSampleNow = 1'790'000'000 * kSampleSecond;  // 2026-09-21 14:13:20 UTC

struct SampleUse {
  Bytes allocated{};
  Bytes peak{};
  Bytes reserved{};
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

// One large block of each kind, requested 100 bytes less than allocated where anything is.
[[nodiscard]] segment::DeviceSnapshot sample_device(segment::Backend backend, std::uint32_t ordinal,
                                                    const SampleUse& use);

struct SampleProcess {
  std::string id{};
  std::int64_t pid = 0;
  std::string command{};
  std::string label{};
  segment::ProcessState state = segment::ProcessState::Live;
};

[[nodiscard]] ProcessView sample_process(const SampleProcess& process, std::vector<segment::DeviceSnapshot> devices);

// Four processes: two live with one and two devices, one stopped without a device, one killed; one of another user.
[[nodiscard]] View sample_view();

}  // namespace tidemark::viewer
