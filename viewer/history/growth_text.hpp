// What grew, for people and for scripts. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/history/growth.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tidemark::viewer {

[[nodiscard]] std::string growth_text(const std::vector<DeviceGrowth>& devices, Charset charset, std::size_t most);

// One line without its newline. `seconds`: from the middle to the end, which is what growth is of.
[[nodiscard]] std::string growth_json(const std::vector<DeviceGrowth>& devices, double seconds);

}  // namespace tidemark::viewer
