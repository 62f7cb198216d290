// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <span>
#include <string_view>

namespace tidemark::viewer {

// Empty when nothing is near enough: more than a third of the letters (at least one) would have to change.
[[nodiscard]] std::string_view nearest(std::string_view typed, std::span<const std::string_view> known);

}  // namespace tidemark::viewer
