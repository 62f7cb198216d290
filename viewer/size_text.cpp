#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace tidemark::viewer {
namespace {

constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

struct Rounded {
  std::uint64_t scaled = 0;  // value * 10^decimals
  int decimals = 0;
  std::size_t unit = 0;
};

// bytes / 2^(10 * unit), times `factor`, to nearest. From PiB on the last ten bits are dropped first: they are a
// billionth of the fourth digit, and the product would not fit.
std::uint64_t scale(std::uint64_t bytes, std::size_t unit, std::uint64_t factor) {
  std::uint64_t size = std::uint64_t{1} << (10 * unit);
  if (unit >= 5) {
    bytes >>= 10;
    size >>= 10;
  }
  return bytes / size * factor + (bytes % size * factor + size / 2) / size;
}

// The first unit and the most decimals with which the *rounded* number has at most four digits: 1023.7 MiB would be
// "1024 MiB" and is "1.000 GiB" instead.
Rounded round_to_four_digits(std::uint64_t bytes) {
  if (bytes < 1024) {
    return {.scaled = bytes, .decimals = 0, .unit = 0};
  }
  for (std::size_t unit = 1;; ++unit) {
    const bool last = unit + 1 == kUnits.size();
    if (!last && scale(bytes, unit, 1) >= 1024) {
      continue;
    }
    std::uint64_t factor = 1000;
    for (int decimals = 3; decimals > 0; --decimals, factor /= 10) {
      if (const std::uint64_t scaled = scale(bytes, unit, factor); scaled < 10000) {
        return {.scaled = scaled, .decimals = decimals, .unit = unit};
      }
    }
    return {.scaled = scale(bytes, unit, 1), .decimals = 0, .unit = unit};
  }
}

std::string number(const Rounded& value) {
  std::uint64_t factor = 1;
  for (int i = 0; i < value.decimals; ++i) {
    factor *= 10;
  }
  if (value.decimals == 0) {
    return fmt::format("{}", value.scaled);
  }
  return fmt::format("{}.{:0{}}", value.scaled / factor, value.scaled % factor, value.decimals);
}

}  // namespace

std::string size_column(std::uint64_t bytes) {
  const Rounded value = round_to_four_digits(bytes);
  return fmt::format("{:>5} {:<3}", number(value), kUnits[value.unit]);
}

std::string size_words(std::uint64_t bytes) {
  const Rounded value = round_to_four_digits(bytes);
  return fmt::format("{} {}", number(value), kUnits[value.unit]);
}

}  // namespace tidemark::viewer
