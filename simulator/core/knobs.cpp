#include "simulator/core/knobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sim {
namespace {

constexpr std::uint64_t kMostDevices = 64;
constexpr std::uint64_t kMostDelayUs = 60'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;  // what two mappings of user space can hold

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> kSizeSuffixes{{
    {"", 1},
    {"B", 1},
    {"K", std::uint64_t{1} << 10},
    {"KiB", std::uint64_t{1} << 10},
    {"KB", 1'000},
    {"M", std::uint64_t{1} << 20},
    {"MiB", std::uint64_t{1} << 20},
    {"MB", 1'000'000},
    {"G", std::uint64_t{1} << 30},
    {"GiB", std::uint64_t{1} << 30},
    {"GB", 1'000'000'000},
    {"T", std::uint64_t{1} << 40},
    {"TiB", std::uint64_t{1} << 40},
    {"TB", 1'000'000'000'000},
    {"k", std::uint64_t{1} << 10},
}};

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<FailRule> parse_fail_rule(std::string_view text) {
  FailRule rule;
  if (const auto equals = text.find('='); equals != std::string_view::npos) {
    const auto code = parse_count(text.substr(equals + 1));
    if (!code || *code > 100'000) return std::nullopt;
    rule.code = static_cast<int>(*code);
    text = text.substr(0, equals);
  }
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  rule.call = text.substr(0, colon);
  text = text.substr(colon + 1);
  rule.onwards = text.ends_with('+');
  if (rule.onwards) text.remove_suffix(1);
  const auto nth = parse_count(text);
  if (!nth || *nth == 0) return std::nullopt;
  rule.nth = *nth;
  return rule;
}

// Reads the variables of one driver, and remembers which names there are.
class Reader {
 public:
  explicit Reader(std::string_view prefix) : prefix_(std::string{prefix} + "_SIM_") {}

  // `accept` takes the text and says whether it could be used.
  template <class Accept>
  void read(std::string_view word, const char* expected, Accept&& accept) {
    const std::string name = prefix_ + std::string{word};
    known_.push_back(name);
    const char* text = std::getenv(name.c_str());
    if (text == nullptr || *text == '\0' || accept(std::string_view{text})) return;
    std::fprintf(stderr, "simulator: %s=%s is not %s; using the default\n", name.c_str(), text, expected);
  }

  void read_count(std::string_view word, const char* expected, std::uint64_t most, std::uint64_t& out) {
    read(word, expected, [&](std::string_view text) {
      const auto value = parse_count(text);
      if (!value || *value > most) return false;
      out = *value;
      return true;
    });
  }

  void warn_of_unknown() const {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      std::string_view name{*entry};
      name = name.substr(0, name.find('='));
      if (!name.starts_with(prefix_)) continue;
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      std::fprintf(stderr, "simulator: there is no setting %.*s\n", static_cast<int>(name.size()), name.data());
    }
  }

 private:
  const std::string prefix_;
  std::vector<std::string> known_;
};

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto known = std::find_if(kSizeSuffixes.begin(), kSizeSuffixes.end(),
                                  [suffix](const auto& entry) { return entry.first == suffix; });
  if (known == kSizeSuffixes.end()) return std::nullopt;
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.data()));
  if (const auto whole = parse_count(digits)) {
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(*whole, known->second, &bytes) || bytes >> 63 != 0) return std::nullopt;
    return bytes;
  }
  const double bytes = number * static_cast<double>(known->second);
  if (!(bytes < 9.2e18)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<std::vector<FailRule>> parse_fail_rules(std::string_view text) {
  std::vector<FailRule> rules;
  while (true) {
    const auto comma = text.find(',');
    auto rule = parse_fail_rule(text.substr(0, comma));
    if (!rule) return std::nullopt;
    rules.push_back(std::move(*rule));
    if (comma == std::string_view::npos) return rules;
    text = text.substr(comma + 1);
  }
}

Knobs read_knobs(std::string_view prefix, std::string_view memory_word, std::initializer_list<std::string_view> more) {
  Knobs knobs;
  Reader reader{prefix};
  for (const std::string_view word : more) reader.read(word, "", [](std::string_view) { return true; });
  std::uint64_t devices = static_cast<std::uint64_t>(knobs.devices);
  reader.read_count("DEVICES", "a number from 0 to 64", kMostDevices, devices);
  knobs.devices = static_cast<int>(devices);
  reader.read(memory_word, "a size like 512M, 1.5GiB or 8GB, at most 64TiB", [&](std::string_view text) {
    const auto size = parse_size(text);
    if (!size || *size == 0 || *size > kMostBytes) return false;
    knobs.memory_bytes = *size;
    return true;
  });
  reader.read_count("ALLOC_US", "a number of microseconds up to a minute", kMostDelayUs, knobs.alloc_us);
  reader.read_count("FREE_US", "a number of microseconds up to a minute", kMostDelayUs, knobs.free_us);
  reader.read("FAIL", "a list like NAME:3 or NAME:3+ or NAME:3=CODE", [&](std::string_view text) {
    auto rules = parse_fail_rules(text);
    if (rules) knobs.fail = std::move(*rules);
    return rules.has_value();
  });
  reader.read("TRACE", "a file", [&](std::string_view text) {
    knobs.trace = text;
    return true;
  });
  reader.read("CLOCK", "auto or manual", [&](std::string_view text) {
    knobs.manual_clock = text == "manual";
    return text == "manual" || text == "auto";
  });
  reader.read("SHARED", "a name of at most 100 characters without '/'", [&](std::string_view text) {
    if (text.size() > 100 || text.find('/') != std::string_view::npos) return false;
    knobs.shared = text;
    return true;
  });
  reader.warn_of_unknown();
  return knobs;
}

}  // namespace sim
