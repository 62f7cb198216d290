#include "viewer/web/filled_page.hpp"

namespace tidemark::viewer {

std::string filled_page(std::string_view page, std::initializer_list<PagePart> parts) {
  std::string html;
  for (const PagePart& part : parts) {
    const std::size_t at = page.find(part.mark);
    html += page.substr(0, at);
    html += part.text;
    page.remove_prefix(at + part.mark.size());
  }
  return html.append(page);
}

}  // namespace tidemark::viewer
