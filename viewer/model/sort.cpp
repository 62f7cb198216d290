#include "viewer/model/sort.hpp"

#include "viewer/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tidemark::viewer {
namespace {

using Figure = std::uint64_t Figures::*;

constexpr std::array<std::pair<std::string_view, Figure>, 5> kFigures{{{"allocated", &Figures::allocated},
                                                                       {"peak", &Figures::allocated_peak},
                                                                       {"reserved", &Figures::reserved},
                                                                       {"cached", &Figures::cached},
                                                                       {"held", &Figures::held}}};

std::uint64_t largest(const ProcessView& process, Figure figure) {
  std::uint64_t most = 0;
  for (const DeviceView& device : process.devices) {
    most = std::max(most, device.figures.*figure);
  }
  return most;
}

// As a number, an unknown rank (-1) is the highest.
std::uint64_t rank_of(const ProcessView& process) {
  return static_cast<std::uint64_t>(process.snapshot.identity.rank.global);
}

}  // namespace

void sort_processes(View& view, std::string_view key) {
  const auto by = [&](auto&& comes_first) {
    std::stable_sort(view.processes.begin(), view.processes.end(), comes_first);
  };
  if (key == "started") {
    return by([](const ProcessView& a, const ProcessView& b) { return a.started_ns() < b.started_ns(); });
  }
  if (key == "rank") {
    return by([](const ProcessView& a, const ProcessView& b) { return rank_of(a) < rank_of(b); });
  }
  for (const auto& [name, figure] : kFigures) {
    if (key == name) {
      const Figure wanted = figure;
      return by(
          [wanted](const ProcessView& a, const ProcessView& b) { return largest(a, wanted) > largest(b, wanted); });
    }
  }
  throw Failure(ExitCode::Usage, fmt::format("--sort '{}'; allowed: {}", key, kSortKeys));
}

}  // namespace tidemark::viewer
