#include "viewer/history/sparkline.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::viewer {
namespace {

constexpr std::array<std::string_view, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAscii{" ", "_", ".", ":", "-", "=", "+", "*", "#"};

}  // namespace

std::string sparkline(std::span<const std::uint64_t> values, Charset charset) {
  const auto& heights = charset == Charset::Utf8 ? kBlocks : kAscii;
  const std::uint64_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string line;
  for (const std::uint64_t value : values) {
    const double share = most == 0 ? 0 : static_cast<double>(value) / static_cast<double>(most);
    const auto height = static_cast<std::size_t>(share * 8 + 0.5);
    line += heights[value == 0 ? 0 : std::clamp<std::size_t>(height, 1, 8)];
  }
  return line;
}

}  // namespace tidemark::viewer
