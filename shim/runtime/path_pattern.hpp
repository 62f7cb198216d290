// Paths with places to fill in: %p pid, %e executable, %h host, %t time (UTC, 20301231-235959), %n a counter, %%
// itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "shared/segment/text.hpp"

namespace tidemark::runtime {

using PathText = segment::Text<4096>;

// What is unknown after a % stays as it is. Cut off where it is too long.
void fill_in(PathText& path, std::string_view pattern, std::uint64_t number) noexcept;

}  // namespace tidemark::runtime
