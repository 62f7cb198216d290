// A page of ours with its parts put in: style, script, data.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tidemark::viewer {

struct PagePart {
  std::string_view mark;  // "[[style]]"
  std::string_view text;
};

// Requires: the marks stand in the page, in this order. What is put in isn't looked at again.
[[nodiscard]] std::string filled_page(std::string_view page, std::initializer_list<PagePart> parts);

}  // namespace tidemark::viewer
