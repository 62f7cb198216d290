#include "shared/base/size_text.hpp"

#include <array>
#include <cstdint>

namespace tidemark {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array kUnits = {
    Unit{"", 1},
    Unit{"B", 1},
    Unit{"K", 1ULL << 10},
    Unit{"KiB", 1ULL << 10},
    Unit{"KB", 1000},
    Unit{"kB", 1000},
    Unit{"M", 1ULL << 20},
    Unit{"MiB", 1ULL << 20},
    Unit{"MB", 1000ULL * 1000},
    Unit{"G", 1ULL << 30},
    Unit{"GiB", 1ULL << 30},
    Unit{"GB", 1000ULL * 1000 * 1000},
    Unit{"T", 1ULL << 40},
    Unit{"TiB", 1ULL << 40},
    Unit{"TB", 1000ULL * 1000 * 1000 * 1000},
};

__extension__ using Wide = unsigned __int128;  // 20 digits times the largest unit

constexpr std::uint64_t kMost = std::uint64_t{1} << 63;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits from the front of `text`, which loses them.
std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) {
    ++length;
  }
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

}  // namespace

std::optional<Bytes> parse_size(std::string_view text) noexcept {
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) {
      return std::nullopt;
    }
  }
  if (whole.empty() || whole.size() + fraction.size() > 20) {
    return std::nullopt;
  }
  for (const Unit& unit : kUnits) {
    if (unit.name != text) {
      continue;
    }
    if (!fraction.empty() && unit.factor == 1) {
      return std::nullopt;
    }
    Wide value = 0;
    Wide scale = 1;
    for (char c : whole) {
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    for (char c : fraction) {
      value = value * 10 + static_cast<unsigned>(c - '0');
      scale *= 10;
    }
    value = value * unit.factor / scale;
    return value > kMost ? std::nullopt : std::optional{Bytes{static_cast<std::uint64_t>(value)}};
  }
  return std::nullopt;
}

}  // namespace tidemark
