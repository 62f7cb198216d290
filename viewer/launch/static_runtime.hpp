// NVIDIA's CUDA runtime inside a program: nvcc links it so unless told otherwise.
#pragma once

#include "viewer/launch/elf_facts.hpp"

#include <string_view>

namespace tidemark::viewer {

// `bytes` is the whole file. Reads all of it: a program may be gigabytes.
[[nodiscard]] bool has_nvidia_runtime_inside(const ElfFacts& facts, std::string_view bytes);

// A clause, for a message about the simulated driver.
inline constexpr std::string_view kNvidiaRuntimeInside =
    "has NVIDIA's CUDA runtime linked into it, which accepts no driver but NVIDIA's own";

}  // namespace tidemark::viewer
