#include "viewer/launch/expectation.hpp"

#include "viewer/clean_text.hpp"
#include "viewer/exit_code.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"

#include "shared/base/size_text.hpp"
#include "shared/segment/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace tidemark::viewer {
namespace {

using Quantity = Expectation::Quantity;
using Comparison = Expectation::Comparison;

struct QuantityName {
  std::string_view text;
  Quantity quantity;
};
constexpr std::array<QuantityName, 5> kQuantities{{{"peak", Quantity::Peak},
                                                   {"held_peak", Quantity::HeldPeak},
                                                   {"held", Quantity::Held},
                                                   {"live", Quantity::Live},
                                                   {"ooms", Quantity::Ooms}}};

struct ComparisonSign {
  std::string_view text;
  Comparison comparison;
};
// A longer one first where both fit.
constexpr std::array<ComparisonSign, 5> kComparisons{{{"<=", Comparison::AtMost},
                                                      {"<", Comparison::Less},
                                                      {"==", Comparison::Equal},
                                                      {">=", Comparison::AtLeast},
                                                      {">", Comparison::More}}};

bool is_count(Quantity quantity) { return quantity == Quantity::Live || quantity == Quantity::Ooms; }
bool is_peak(Quantity quantity) { return quantity == Quantity::Peak || quantity == Quantity::HeldPeak; }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
  throw Failure(ExitCode::Usage,
                fmt::format("run: --expect '{}': {}; allowed: peak, held_peak or held with {}, live or ooms with a "
                            "number, between them <=, <, ==, >= or >; for example 'peak<=512MiB'",
                            text, reason, kSizeForms));
}

std::optional<std::uint64_t> bound_of(Quantity quantity, std::string_view text) {
  if (is_count(quantity)) {
    return parse_count(text);
  }
  const auto size = parse_size(text);
  return size ? std::optional{size->count()} : std::nullopt;
}

// A part of what a quantity is made of, and whose it is.
struct Part {
  std::uint64_t value = 0;
  const ProcessView* process = nullptr;
  const DeviceView* device = nullptr;  // null: on the host
};

template <class Counts>
std::uint64_t live_in(const std::optional<Counts>& counts) {
  std::uint64_t live = 0;
  if (counts) {
    for (const KindCount& kind : counts->kinds) {
      live += kind.current_count;
    }
  }
  return live;
}

std::uint64_t value_of(Quantity quantity, const DeviceView& device) {
  const DeviceBasis& basis = device.snapshot.basis;
  const auto extra = [&](segment::ExtraKey key) {
    return static_cast<std::uint64_t>(segment::extra_value(basis, key));
  };
  switch (quantity) {
    case Quantity::Peak:
      return extra(segment::ExtraKey::LifetimePeakAllocatedBytes);
    case Quantity::HeldPeak:
      return extra(segment::ExtraKey::LifetimePeakHeldBytes);
    case Quantity::Held:
      return device.figures.held;
    case Quantity::Live:
      return static_cast<std::uint64_t>(segment::stat_value(basis, *segment::find_stat("allocation.all.current"))) +
             live_in(device.snapshot.kinds);
    case Quantity::Ooms:
      return device.figures.ooms;
  }
  return 0;
}

std::vector<Part> parts_of(Quantity quantity, std::span<const ProcessView> processes) {
  std::vector<Part> parts;
  for (const ProcessView& process : processes) {
    for (const DeviceView& device : process.devices) {
      parts.push_back({.value = value_of(quantity, device), .process = &process, .device = &device});
    }
    if (quantity == Quantity::Live) {
      parts.push_back({.value = live_in(process.snapshot.host_kinds), .process = &process});
    }
  }
  std::erase_if(parts, [](const Part& part) { return part.value == 0; });
  std::ranges::stable_sort(parts, std::greater{}, &Part::value);
  return parts;
}

bool holds(const Expectation& expected, std::uint64_t value) {
  switch (expected.comparison) {
    case Comparison::AtMost:
      return value <= expected.bound;
    case Comparison::Less:
      return value < expected.bound;
    case Comparison::Equal:
      return value == expected.bound;
    case Comparison::AtLeast:
      return value >= expected.bound;
    case Comparison::More:
      return value > expected.bound;
  }
  return false;
}

// With the exact number, since 512MiB and a byte reads as 512.0 MiB.
std::string words_for(Quantity quantity, std::uint64_t value) {
  return is_count(quantity) ? fmt::format("{}", value)
         : value < 1024     ? size_words(value)
                            : fmt::format("{} ({} B)", size_words(value), value);
}

std::string place_of(const Part& part) {
  return fmt::format("{} (pid {}) on {}", clean_text(part.process->title(), terminal_charset()), part.process->pid(),
                     part.device == nullptr ? "the host" : part.device->name);
}

}  // namespace

Expectation parse_expectation(std::string_view text) {
  const std::size_t sign = text.find_first_of("<=>");
  if (sign == std::string_view::npos) {
    refuse(text, "it compares nothing");
  }
  const std::string_view name = trimmed(text.substr(0, sign));
  const auto quantity = std::ranges::find(kQuantities, name, &QuantityName::text);
  if (quantity == kQuantities.end()) {
    refuse(text, fmt::format("no quantity '{}'", name));
  }
  const std::string_view rest = text.substr(sign);
  const auto comparison =
      std::ranges::find_if(kComparisons, [&](const ComparisonSign& known) { return rest.starts_with(known.text); });
  if (comparison == kComparisons.end()) {
    refuse(text, "equal is ==");
  }
  const std::string_view bound_text = trimmed(rest.substr(comparison->text.size()));
  const auto bound = bound_of(quantity->quantity, bound_text);
  if (!bound) {
    refuse(text, fmt::format("'{}' is no {}", bound_text, is_count(quantity->quantity) ? "number" : "size"));
  }
  return {
      .quantity = quantity->quantity, .comparison = comparison->comparison, .bound = *bound, .text = std::string{text}};
}

std::string disappointment(const Expectation& expected, std::span<const ProcessView> processes) {
  const std::vector<Part> parts = parts_of(expected.quantity, processes);
  std::uint64_t found = parts.empty() ? 0 : parts.front().value;
  if (!is_peak(expected.quantity)) {
    found = 0;
    for (const Part& part : parts) {
      found += part.value;
    }
  }
  if (holds(expected, found)) {
    return {};
  }
  std::string line = fmt::format("run: expected {}, found {}", expected.text, words_for(expected.quantity, found));
  if (processes.empty()) {
    line += ": nothing was allocated";
  } else if (!parts.empty() && parts.front().value == found) {
    line += fmt::format(" in {}", place_of(parts.front()));
  } else if (!parts.empty()) {
    line += fmt::format(", {} of it in {}", words_for(expected.quantity, parts.front().value), place_of(parts.front()));
  }
  return line;
}

}  // namespace tidemark::viewer
