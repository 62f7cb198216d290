// What is right and wrong with this machine. Pure.
#pragma once

#include "viewer/doctor/finding.hpp"
#include "viewer/doctor/machine_facts.hpp"

namespace tidemark::viewer {

// All of it.
[[nodiscard]] Findings findings_of_machine(const MachineFacts& facts);

// The library and the place for segments alone: what a start depends on.
[[nodiscard]] Findings findings_of_installation(const MachineFacts& facts);

}  // namespace tidemark::viewer
