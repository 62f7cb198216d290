// Sizes as people write them, everywhere in Tidemark: 512, 64K = 64KiB, 1.5GiB, 8G = 8GiB, 8GB = 8 * 10^9. No locale,
// no allocation.
#pragma once

#include <optional>
#include <string_view>

#include "shared/base/bytes.hpp"

namespace tidemark {

// For messages: what parse_size accepts.
inline constexpr std::string_view kSizeForms = "a size like 512, 64KiB, 1.5GiB, 8G (= GiB) or 8GB (= 10^9)";

// None for anything else: a sign, a space inside, an unknown unit, a fraction of a byte, more than 2^63.
[[nodiscard]] std::optional<Bytes> parse_size(std::string_view text) noexcept;

}  // namespace tidemark
