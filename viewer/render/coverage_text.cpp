#include "viewer/render/coverage_text.hpp"

#include "viewer/model/coverage.hpp"

#include <fmt/format.h>

namespace tidemark::viewer {
namespace {

using segment::SymbolCoverage;
using segment::SymbolUse;

// "cudaMalloc, cudaFree and 3 more"
class Names {
 public:
  void add(const std::string& name) {
    if (++count_ <= kMostNamed) {
      text_ += (text_.empty() ? "" : ", ") + name;
    }
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::string text() const {
    return count_ > kMostNamed ? fmt::format("{} and {} more", text_, count_ - kMostNamed) : text_;
  }

 private:
  static constexpr std::size_t kMostNamed = 4;

  std::size_t count_ = 0;
  std::string text_;
};

}  // namespace

std::string coverage_text(const segment::CoverageList& coverage) {
  Names linked;
  Names by_dlsym;
  Names resolved;
  Names missed;
  for (const SymbolCoverage& function : coverage) {
    if (function.has(SymbolUse::Entered)) {
      Names& way = function.has(SymbolUse::Resolved) ? resolved : function.has(SymbolUse::Swapped) ? by_dlsym : linked;
      way.add(function.name);
    }
    if (function.has(SymbolUse::Missed)) {
      missed.add(function.name);
    }
  }
  std::string ways;
  const auto add = [&ways](std::string_view way, const Names& names) {
    if (!names.empty()) {
      ways += fmt::format("{}{} {}", ways.empty() ? "" : "; ", way, names.text());
    }
  };
  add("linked", linked);
  add("by dlsym", by_dlsym);
  add("by the driver's resolver", resolved);
  std::string text = fmt::format("  called through us: {}\n", ways.empty() ? "nothing" : ways);
  if (!missed.empty()) {
    text += fmt::format("  looked up past us, in another library: {}\n", missed.text());
  }
  text += fmt::format("  not accounted for: {}\n", unaccounted_text(coverage));
  if (const std::uint64_t tables = tables_asked_for(coverage); tables > 0) {
    text +=
        fmt::format("  private tables of the driver asked for: {} (what allocates through one is not seen)\n", tables);
  }
  return text;
}

}  // namespace tidemark::viewer
