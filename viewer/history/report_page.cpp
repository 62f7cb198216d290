#include "viewer/history/report_page.hpp"

#include <string_view>

#include "viewer/history/page/parts.hpp"
#include "viewer/history/report_json.hpp"
#include "viewer/web/filled_page.hpp"

namespace tidemark::viewer {
namespace {

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(what, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) {
      return result;
    }
    result += with;
    at = found + what.size();
  }
}

// A name that a program wrote must not end the element it stands in.
std::string in_script(const std::string& json) { return replaced(json, "<", "\\u003c"); }

std::string in_text(const std::string& text) {
  return replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

}  // namespace

std::string report_page(const MemorySnapshot& snapshot, const std::string& text) {
  const std::string data = in_script(report_json_with_map(report_of(snapshot, kPageParts), snapshot));
  const std::string plain = in_text(text);
  return filled_page(
      page::kPage,
      {{"[[style]]", page::kStyle}, {"[[text]]", plain}, {"[[data]]", data}, {"[[script]]", page::kScript}});
}

}  // namespace tidemark::viewer
