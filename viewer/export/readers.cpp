#include "viewer/export/readers.hpp"

#include <algorithm>

namespace tidemark::viewer {

Readers::Found Readers::find(std::string_view name) {
  auto place = std::ranges::find_if(
      known_, [name](const Known& reader) { return reader.last_read != 0 && reader.name == name; });
  const bool is_new = place == known_.end();
  if (is_new) {
    place = std::ranges::min_element(known_, {}, &Known::last_read);
    place->name = name;
  }
  place->last_read = ++reads_;
  return {.reader = ReaderSet{1} << (place - known_.begin()), .is_new = is_new};
}

}  // namespace tidemark::viewer
