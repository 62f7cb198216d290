// What the machine itself says of one of its devices, whoever uses it. Values only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

using UuidBytes = std::array<std::uint8_t, 16>;

struct NodeFact {
  std::string uuid;                                    // "GPU-...", of a slice of a GPU "MIG-..."
  std::optional<UuidBytes> uuid_bytes = std::nullopt;  // none: a uuid of another form
  std::string name{};
  std::string pci_bus_id{};                           // "0000:65:00.0"
  std::optional<std::uint32_t> index = std::nullopt;  // as nvidia-smi counts; of a slice its GPU's
  bool from_nvml = false;                             // else from /proc/driver/nvidia, which tells no memory
  std::optional<std::uint64_t> capacity = std::nullopt;
  std::optional<std::uint64_t> used = std::nullopt;  // by everybody, without what is reserved for the system
  std::uint64_t time_ns = 0;                         // CLOCK_REALTIME
};

struct NodeFacts {
  std::vector<NodeFact> devices{};
  std::string no_nvml{};  // why NVML says nothing; empty: it does
};

// "GPU-9f3c01aa-0203-..." and the like, 32 digits behind the first word.
[[nodiscard]] std::optional<UuidBytes> parse_uuid(std::string_view text);

// One form for all sources, CUDA's: "00000000:3b:00.0" and "0000:3B:00.0" are "0000:3B:00.0".
[[nodiscard]] std::string plain_bus_id(std::string_view text);

}  // namespace tidemark::viewer
