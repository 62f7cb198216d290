#include "viewer/model/coverage.hpp"

#include <fmt/format.h>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kTables = "cuGetExportTable";

}  // namespace

segment::CoverageList unaccounted(const segment::CoverageList& coverage) {
  segment::CoverageList found;
  for (const segment::SymbolCoverage& function : coverage) {
    if (function.unaccounted_calls > 0 && function.name != kTables) {
      found.push_back(function);
    }
  }
  return found;
}

std::uint64_t tables_asked_for(const segment::CoverageList& coverage) {
  for (const segment::SymbolCoverage& function : coverage) {
    if (function.name == kTables) {
      return function.unaccounted_calls;
    }
  }
  return 0;
}

std::string unaccounted_text(const segment::CoverageList& coverage) {
  std::string text;
  for (const segment::SymbolCoverage& function : unaccounted(coverage)) {
    // Outside a capture these are counted.
    const bool is_captured = function.name.starts_with("cuMemAlloc");
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", function.name, function.unaccounted_calls,
                        is_captured ? " (in captures)" : "");
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace tidemark::viewer
