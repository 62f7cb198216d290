// What a backend knows about a device when it is first met.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "shared/base/bytes.hpp"

namespace tidemark::backend {

struct DeviceIdentity {
  std::array<std::uint8_t, 16> uuid{};
  std::array<char, 64> name{};        // NUL-terminated
  std::array<char, 32> pci_bus_id{};  // NUL-terminated; empty: none
  Bytes capacity;
  bool is_simulated = false;

  // Simulated devices say so in their name; what doesn't fit of a name is cut off.
  void set_name(std::string_view text) noexcept {
    const std::string_view shown = text.substr(0, name.size() - 1);
    std::fill(std::copy(shown.begin(), shown.end(), name.begin()), name.end(), '\0');
    is_simulated = text.find("simulated") != std::string_view::npos;
  }
};

}  // namespace tidemark::backend
