// From a device's basis to what callers get.
#pragma once

#include <cstdint>

#include "client/include/tidemark/tidemark.h"
#include "shared/base/device_basis.hpp"

namespace tidemark::client {

// Every number of `out`, as far as its size says that it reaches. Throws Failure(INVALID_ARGUMENT) for a size that no
// version had.
void fill_stats(const DeviceBasis& basis, tidemark_device_stats& out);
// Every number 0.
void clear_stats(tidemark_device_stats& out);

// One of PyTorch's keys, or of ours. Throws Failure(INVALID_ARGUMENT) with what there is.
[[nodiscard]] std::int64_t stat_of(const DeviceBasis& basis, const char* key);
void check_key(const char* key);

}  // namespace tidemark::client
