// The forms in which a caller names a device: "cuda:0", "mtia:1", "cuda", "1", "all", NULL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/segment/process_words.hpp"

namespace tidemark::client {

using segment::Backend;

struct DeviceWord {
  Backend backend = Backend::Unknown;                   // Unknown: the one that the process uses
  std::optional<std::uint32_t> ordinal = std::nullopt;  // none: the current device
  bool all = false;
};

// A device of a process; what a word has come to mean.
struct DeviceName {
  Backend backend = Backend::Unknown;
  std::uint32_t ordinal = 0;

  bool operator==(const DeviceName&) const = default;
};

// Throws Failure(INVALID_ARGUMENT) with the forms that there are. `device` may be null.
[[nodiscard]] DeviceWord read_device(const char* device);
// The same for functions that are about one device.
[[nodiscard]] DeviceWord read_one_device(const char* device);

// "cuda", "mtia". Throws Failure(INVALID_ARGUMENT).
[[nodiscard]] Backend read_backend(const char* backend);

[[nodiscard]] std::string to_text(const DeviceName& device);  // "cuda:0"

}  // namespace tidemark::client
