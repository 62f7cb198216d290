// Who the devices of a simulated product are, in every process and whether or not it has a machine.
#pragma once

#include <string>

#include "simulator/core/machine.hpp"

namespace sim {

// That of the device with this index in every machine of this product.
DeviceIdentity identity_of(const std::string& product, int device);

// The uuid as vendors write it, behind a word of theirs: "GPU-73696d2d-4355-4441-2047-505500000001".
std::string uuid_text(const std::string& word, const DeviceIdentity& identity);

}  // namespace sim
