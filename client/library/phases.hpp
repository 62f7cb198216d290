// Scopes with peaks of their own, which are kept by the library: each by its ticket, or on its thread's stack.
#pragma once

#include <cstdint>
#include <string>

#include "client/include/tidemark/tidemark.h"
#include "client/library/device_word.hpp"

namespace tidemark::client {

// Without the library: a phase that measures nothing.
inline constexpr std::int64_t kUnmeasured = 0;

// Any thread, in any order. Failure(BUSY): too many are open; Failure(INVALID_ARGUMENT): no such phase.
[[nodiscard]] std::int64_t begin_phase();
// Uninitialised: zeros.
void read_phase(std::int64_t ticket, const DeviceWord& device, tidemark_device_stats& out);
void end_phase(std::int64_t ticket);

// The calling thread's stack, also while the program ends. Failure(INVALID_ARGUMENT) where none is open.
void push_phase(const char* name);
void pop_phase();
void read_innermost_phase(const DeviceWord& device, tidemark_device_stats& out);
[[nodiscard]] const char* phase_name();  // null: none
void require_phase();

}  // namespace tidemark::client
