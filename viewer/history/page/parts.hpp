// The files of the page, as CMake has put them into the program.
#pragma once

#include <string_view>

namespace tidemark::viewer::page {

extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace tidemark::viewer::page
