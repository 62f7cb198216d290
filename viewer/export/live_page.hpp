// The page at "/": draws what /live.json says, again and again. Nothing of it comes from anywhere else.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::viewer {

[[nodiscard]] std::string live_page();

// Its Content-Security-Policy: no other host is asked for anything, whatever a program calls itself.
inline constexpr std::string_view kLivePagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

namespace live {
// The files of the page, as CMake has put them into the program.
extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kScript;
}  // namespace live

}  // namespace tidemark::viewer
