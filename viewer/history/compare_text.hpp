// Differences for people and for scripts. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/clean_text.hpp"
#include "viewer/history/compare.hpp"
#include "viewer/history/counter_change.hpp"

namespace tidemark::viewer {

enum class By { Stack, Size };

// "+2.000 MiB", "-512 B", "0 B".
[[nodiscard]] std::string signed_size(std::int64_t bytes);
// "+5 blocks", "-1 block".
[[nodiscard]] std::string signed_blocks(std::int64_t blocks);

// `most`: of each device that many of the largest gains and losses.
[[nodiscard]] std::string compare_text(const std::vector<DeviceChange>& devices, By by, Charset charset,
                                       std::size_t most);
[[nodiscard]] std::string compare_text(const std::vector<CounterChange>& counters, Charset charset);

// One line without its newline.
[[nodiscard]] std::string compare_json(const std::vector<DeviceChange>& devices);
[[nodiscard]] std::string compare_json(const std::vector<CounterChange>& counters);

}  // namespace tidemark::viewer
