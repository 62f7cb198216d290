// The drivers that there are; driver_of() chooses.
#pragma once

#include "client/library/driver.hpp"

namespace tidemark::client {

[[nodiscard]] Driver& cuda_driver();
[[nodiscard]] Driver& mtia_driver();

}  // namespace tidemark::client
