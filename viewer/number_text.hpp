// Whole numbers and moments for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// "1,234,567", "-512".
[[nodiscard]] std::string grouped(std::int64_t value);

// "1 event", "1,234 events".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view more);

// Digits alone; none: something else, or too large.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);

// The same, also in thousands, millions and billions: "150000", "150k", "1M", "1G".
[[nodiscard]] std::optional<std::uint64_t> parse_large_count(std::string_view text);

// "14:03:12" within a day of `now_ns`, else "2026-11-28 14:03:12"; local time. Both are CLOCK_REALTIME.
[[nodiscard]] std::string clock_text(std::uint64_t time_ns, std::uint64_t now_ns);

// "850 ns", "12.3 us", "4.56 ms", "7.8 s".
[[nodiscard]] std::string time_text(std::uint64_t ns);

}  // namespace tidemark::viewer
