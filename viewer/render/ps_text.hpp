// `ps` for people and for spreadsheets. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/model/view.hpp"

#include <cstddef>
#include <string>

namespace tidemark::viewer {

// A title line, then one line a process and device. `width` > 0: the terminal's, at which the last column is clipped.
[[nodiscard]] std::string ps_text(const View& view, Charset charset, std::size_t width = 0);

// A header and one record a process and device; integers in bytes, empty for unknown. RFC 4180, lines end in \n.
[[nodiscard]] std::string ps_csv(const View& view);

// "99.8", "-" for unknown; never rounded up to 100 while there was a miss.
[[nodiscard]] std::string percent_text(std::optional<double> percent);

}  // namespace tidemark::viewer
