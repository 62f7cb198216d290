// What `run --expect` takes: a number of the run's memory and what it may be.
#pragma once

#include "viewer/model/view.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::viewer {

struct Expectation {
  enum class Quantity { Peak, HeldPeak, Held, Live, Ooms };
  enum class Comparison { AtMost, Less, Equal, AtLeast, More };

  Quantity quantity = Quantity::Peak;
  Comparison comparison = Comparison::AtMost;
  std::uint64_t bound = 0;  // bytes, or how many
  std::string text;         // "peak<=512MiB"
};

// "peak<=512MiB", "ooms==0". Throws Failure{Usage}, which names what is allowed.
[[nodiscard]] Expectation parse_expectation(std::string_view text);

// A peak is the highest of any process on any device; of all else there is one sum. Empty: as expected. Otherwise a
// line: what was expected, what was found, and in which process on which device (most of) it was.
[[nodiscard]] std::string disappointment(const Expectation& expected, std::span<const ProcessView> processes);

}  // namespace tidemark::viewer
