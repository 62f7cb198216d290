// One thing that `tidemark doctor` found out, with what to do about it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

enum class Weight {
  Fine,
  Note,     // worth knowing: nothing is lost by it
  Problem,  // something is not tracked, or cannot be asked
};

struct Finding {
  Weight weight = Weight::Fine;
  std::string_view code;  // for scripts: "not-preloaded"
  std::string what;       // a clause: "libtidemark.so is not loaded"
  std::string advice{};   // what to do; empty: nothing
};
using Findings = std::vector<Finding>;

[[nodiscard]] inline std::size_t problems_in(const Findings& findings) {
  return static_cast<std::size_t>(
      std::ranges::count_if(findings, [](const Finding& finding) { return finding.weight == Weight::Problem; }));
}

}  // namespace tidemark::viewer
