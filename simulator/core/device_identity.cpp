#include "simulator/core/device_identity.hpp"

#include <algorithm>
#include <cstdio>

namespace sim {

DeviceIdentity identity_of(const std::string& product, int device) {
  DeviceIdentity identity{.name = product + " (simulated)"};
  const std::string text = "sim-" + product;
  std::copy_n(text.begin(), std::min<std::size_t>(text.size(), 12), identity.uuid.begin());
  identity.uuid[14] = static_cast<unsigned char>(device >> 8);
  identity.uuid[15] = static_cast<unsigned char>(device);
  return identity;
}

std::string uuid_text(const std::string& word, const DeviceIdentity& identity) {
  std::string text = word;
  for (std::size_t i = 0; i < identity.uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", identity.uuid[i]);
    text += digits;
  }
  return text;
}

}  // namespace sim
