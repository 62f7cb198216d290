#include "shim/hook/object_list.hpp"

#include <initializer_list>

namespace tidemark::hook {

const link_map& ObjectList::at(std::size_t place) const noexcept {
  const link_map* object = &first_;
  while (place-- > 0) {
    object = object->l_next;
  }
  return *object;
}

std::size_t ObjectList::place_of(const link_map& object) const noexcept {
  std::size_t place = 0;
  return find([&](const link_map& other) { return &other == &object || (++place, false); }) ? place : SIZE_MAX;
}

// As the loader does; files are mostly called what others call them, which is faster to see.
std::size_t ObjectList::place_by_name(const char* needed) const noexcept {
  for (const auto has_name : {&has_file_name, &has_soname}) {
    std::size_t place = 0;
    if (find([&](const link_map& object) { return has_name(object, needed) || (++place, false); })) {
      return place;
    }
  }
  return SIZE_MAX;
}

// What the program needs was loaded before anything else could be, and all that stands before one of these as well.
bool ObjectList::is_from_the_start(const link_map& object) const noexcept {
  const std::size_t place = place_of(object);
  return find_in_scope_of(first_, [&](const link_map& needed) { return place_of(needed) >= place; });
}

}  // namespace tidemark::hook
