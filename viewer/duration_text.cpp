#include "viewer/duration_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr double kTenYearsMs = 10.0 * 365 * 24 * 3600 * 1000;

constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
    {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0 || text.starts_with('-')) {
    return std::nullopt;
  }
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, milliseconds] : kUnits) {
    if (unit == name && number * milliseconds <= kTenYearsMs) {
      return std::chrono::milliseconds{std::llround(number * milliseconds)};
    }
  }
  return std::nullopt;
}

std::string duration_words(std::chrono::seconds length) {
  const auto s = length.count();
  if (s < 60) {
    return fmt::format("{} s", s < 0 ? 0 : s);
  }
  if (s < 3600) {
    return fmt::format("{} min {:02} s", s / 60, s % 60);
  }
  if (s < 86400) {
    return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  }
  return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

std::string ago_words(std::uint64_t time_ns, std::uint64_t now_ns) {
  const std::uint64_t ns = now_ns > time_ns ? now_ns - time_ns : 0;
  return duration_words(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::nanoseconds{ns}));
}

}  // namespace tidemark::viewer
