// What a backend knows about a device when it is first met.
#pragma once

#include <array>
#include <cstdint>

#include "shared/base/bytes.hpp"

namespace tidemark::backend {

struct DeviceIdentity {
  std::array<std::uint8_t, 16> uuid{};
  std::array<char, 64> name{};        // NUL-terminated
  std::array<char, 32> pci_bus_id{};  // NUL-terminated; empty: none
  Bytes capacity;
  bool is_simulated = false;
};

}  // namespace tidemark::backend
