// The named ranges of a process as a table and as JSON. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/model/range_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::viewer {

// `width` as TextTable's.
[[nodiscard]] std::string ranges_text(const std::vector<NamedRange>& ranges, Charset charset, std::size_t width);

[[nodiscard]] std::string ranges_json(const ProcessView& process, const std::vector<NamedRange>& ranges,
                                      std::uint64_t time_ns);

}  // namespace tidemark::viewer
