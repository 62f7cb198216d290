// Lengths of time as people type and read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// Reads seconds (`5`, `0.5`) and numbers with a unit: `500ms`, `5s`, `10m`, `24h`, `7d`. nullopt: anything else, and
// more than ten years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

inline constexpr std::string_view kDurationForms = "5, 0.5, 500ms, 5s, 10m, 24h or 7d";

// At most two units: "0 s", "59 s", "3 min 12 s", "5 h 02 min", "12 d 3 h".
[[nodiscard]] std::string duration_words(std::chrono::seconds length);

// How long ago, of the same clock: "12 s"; "0 s" for what is still to come.
[[nodiscard]] std::string ago_words(std::uint64_t time_ns, std::uint64_t now_ns);

}  // namespace tidemark::viewer
