#include "viewer/number_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <utility>

namespace tidemark::viewer {

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3; end -= 3) {
    digits.insert(end - 3, 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), count == 1 ? one : more);
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{count} : std::nullopt;
}

std::optional<std::uint64_t> parse_large_count(std::string_view text) {
  std::uint64_t unit = 1;
  for (const auto& [letter, count] : {std::pair{'k', 1'000ULL}, {'M', 1'000'000ULL}, {'G', 1'000'000'000ULL}}) {
    if (text.ends_with(letter)) {
      unit = count;
      text.remove_suffix(1);
      break;
    }
  }
  const auto count = parse_count(text);
  return count && *count <= UINT64_MAX / unit ? std::optional{*count * unit} : std::nullopt;
}

std::string clock_text(std::uint64_t time_ns, std::uint64_t now_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  constexpr std::uint64_t kDay = 86400 * kSecond;
  const auto time = static_cast<std::time_t>(time_ns / kSecond);
  std::tm local{};
  if (localtime_r(&time, &local) == nullptr) {
    return "?";
  }
  const std::uint64_t apart = time_ns > now_ns ? time_ns - now_ns : now_ns - time_ns;
  return apart < kDay ? fmt::format("{:%H:%M:%S}", local) : fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string time_text(std::uint64_t ns) {
  if (ns < 1000) {
    return fmt::format("{} ns", ns);
  }
  const auto value = static_cast<double>(ns);
  if (value < 999.5e3) {
    return fmt::format("{:.3g} us", value / 1e3);
  }
  if (value < 999.5e6) {
    return fmt::format("{:.3g} ms", value / 1e6);
  }
  return value < 100e9 ? fmt::format("{:.3g} s", value / 1e9) : fmt::format("{:.0f} s", value / 1e9);
}

}  // namespace tidemark::viewer
