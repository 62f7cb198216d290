// Sizes and lengths of time as the viewer writes them, for lines of the library's own. In whole numbers, since a
// printed fraction would follow the program's locale. No allocation.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>

namespace tidemark::runtime {

class ScaledWords {
 public:
  [[nodiscard]] const char* text() const noexcept { return text_; }

 protected:
  // `value` in `unit`s, with as many digits behind the point as make `digits` in all. Requires: digits <= 4, a name of
  // at most 4 letters.
  void write(std::uint64_t value, std::uint64_t unit, int digits, const char* name) noexcept {
    std::uint64_t whole = value / unit;
    int behind = digits - 1;
    std::uint64_t power = 1;
    for (std::uint64_t tens = 10; whole >= tens && behind > 0; tens *= 10) {
      --behind;
    }
    for (int i = 0; i < behind; ++i) {
      power *= 10;
    }
    std::uint64_t part = ((value % unit) * power + unit / 2) / unit;
    whole += part / power;
    part %= power;
    char* at = std::to_chars(text_, text_ + kMostDigits, whole).ptr;
    if (behind > 0) {
      *at++ = '.';
      for (int i = behind - 1; i >= 0; --i, part /= 10) {
        at[i] = static_cast<char>('0' + part % 10);
      }
      at += behind;
    }
    *at++ = ' ';
    while (*name != '\0') {
      *at++ = *name++;
    }
    *at = '\0';
  }

 private:
  static constexpr std::size_t kMostDigits = 20;
  char text_[kMostDigits + 16] = "";
};

// Four digits and a binary unit: "671.7 MiB", "512 B".
class SizeWords : public ScaledWords {
 public:
  explicit SizeWords(std::uint64_t size) noexcept {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int power = 0;
    while (power < 5 && size >> (10 * power) >= 1024) {
      ++power;
    }
    write(size, std::uint64_t{1} << (10 * power), power == 0 ? 1 : 4, kUnits[power]);
  }
};

// Three digits: "12.3 ms", "4.56 s".
class TimeWords : public ScaledWords {
 public:
  explicit TimeWords(std::uint64_t ns) noexcept {
    constexpr std::uint64_t kMicrosecond = 1000;
    constexpr std::uint64_t kMillisecond = 1000 * kMicrosecond;
    constexpr std::uint64_t kSecond = 1000 * kMillisecond;
    if (ns >= kSecond) {
      write(ns, kSecond, 3, "s");
    } else if (ns >= kMillisecond) {
      write(ns, kMillisecond, 3, "ms");
    } else {
      write(ns, kMicrosecond, 3, "us");
    }
  }
};

}  // namespace tidemark::runtime
