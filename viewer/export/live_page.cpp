#include "viewer/export/live_page.hpp"

#include "viewer/web/filled_page.hpp"

namespace tidemark::viewer {

std::string live_page() {
  return filled_page(live::kPage, {{"[[style]]", live::kStyle}, {"[[script]]", live::kScript}});
}

}  // namespace tidemark::viewer
