// `ps` for people and for spreadsheets. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/model/tree.hpp"
#include "viewer/model/view.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tidemark::viewer {

// A title line, then one line a process and device. `width` > 0: the terminal's, at which the last column is clipped.
[[nodiscard]] std::string ps_text(const View& view, Charset charset, std::size_t width = 0);

// The same in the order of `tree`, its branches before the names.
[[nodiscard]] std::string ps_text(const View& view, const std::vector<TreeLine>& tree, Charset charset,
                                  std::size_t width = 0);

// A header and one record a process and device; integers in bytes, empty for unknown. RFC 4180, lines end in \n.
[[nodiscard]] std::string ps_csv(const View& view);

// One of several looks: the header only once, and when it was in front of each record, in seconds since 1970.
[[nodiscard]] std::string ps_csv_look(const View& view, bool with_header);

// What a tree puts before the name: of the first line of a process, or of those behind it.
[[nodiscard]] std::string branch_text(const TreeLine& line, Charset charset, bool is_first);

// "99.8", "-" for unknown; never rounded up to 100 while there was a miss.
[[nodiscard]] std::string percent_text(std::optional<double> percent);

}  // namespace tidemark::viewer
