#include "viewer/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace tidemark::viewer {
namespace {

// Insertions, deletions, changes and swaps of neighbours that turn one into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string_view name : known) {
    if (const std::size_t d = distance(typed, name); d < best_distance) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace tidemark::viewer
