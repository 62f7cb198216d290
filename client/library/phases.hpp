// Named scopes with peaks of their own: each thread has its stack of them; their peaks are kept by the library.
#pragma once

#include <string>

#include "client/include/tidemark/tidemark.h"
#include "client/library/device_word.hpp"

namespace tidemark::client {

// All of the calling thread. Failure(INVALID_ARGUMENT) where none is open.
void push_phase(const char* name);
void pop_phase();
// Of the innermost. Uninitialised: zeros.
void read_phase(const DeviceWord& device, tidemark_device_stats& out);
[[nodiscard]] const char* phase_name();  // null: none
void require_phase();

}  // namespace tidemark::client
