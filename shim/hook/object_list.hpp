// All objects that are loaded now, in the order in which the loader lists and searches them.
#pragma once

#include <link.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "shim/hook/loaded_object.hpp"
#include "shim/hook/own_object.hpp"

namespace tidemark::hook {

class ObjectList {
 public:
  // Calls use(const ObjectList&) while nothing is loaded or unloaded. `use` must not call the loader.
  template <class Use>
  static void hold_still(Use&& use) noexcept {
    const auto call = [](dl_phdr_info*, std::size_t, void* data) {
      const link_map* first = object_of(address_in_our_object());
      while (first != nullptr && first->l_prev != nullptr) {
        first = first->l_prev;
      }
      if (first != nullptr) {
        (*static_cast<std::remove_reference_t<Use>*>(data))(ObjectList{*first});
      }
      return 1;
    };
    dl_iterate_phdr(call, &use);
  }

  // Was it there when the program started? Such objects are the scope that RTLD_NEXT searches, and are never unloaded.
  // (One that only a preloaded library brought along may not be recognised.)
  [[nodiscard]] bool is_from_the_start(const link_map& object) const noexcept;

  [[nodiscard]] bool is_program(const link_map& object) const noexcept { return &object == &first_; }

  // visit(const link_map&) for each object until it says true; whether it did.
  template <class Visit>
  bool find(Visit&& visit) const noexcept {
    return find_from(&first_, visit);
  }
  // The same for those behind `object`.
  template <class Visit>
  bool find_after(const link_map& object, Visit&& visit) const noexcept {
    return find_from(object.l_next, visit);
  }

  // The same for `root` and what it needs, breadth first as the loader searches them. What a root with more than kMost
  // of them needs last is left out.
  template <class Visit>
  bool find_in_scope_of(const link_map& root, Visit&& visit) const noexcept {
    std::array<std::uint16_t, kMost> queue;  // filled up to `length`
    std::bitset<kMost> is_queued;
    std::size_t length = 0;
    const auto add = [&](std::size_t place) {
      if (place < kMost && !is_queued[place]) {
        is_queued[place] = true;
        queue[length++] = static_cast<std::uint16_t>(place);
      }
    };
    add(place_of(root));
    for (std::size_t i = 0; i < length; ++i) {
      const link_map& object = at(queue[i]);
      if (visit(object)) {
        return true;
      }
      const char* needed = nullptr;
      for (unsigned n = 0; (needed = needed_by(object, n)) != nullptr; ++n) {
        add(place_by_name(needed));
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kMost = 512;  // PyTorch with its extensions loads some 300

  explicit ObjectList(const link_map& first) noexcept : first_(first) {}

  template <class Visit>
  static bool find_from(const link_map* object, Visit&& visit) noexcept {
    for (; object != nullptr; object = object->l_next) {
      if (visit(*object)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] const link_map& at(std::size_t place) const noexcept;
  [[nodiscard]] std::size_t place_of(const link_map& object) const noexcept;
  [[nodiscard]] std::size_t place_by_name(const char* needed) const noexcept;  // SIZE_MAX: not loaded

  const link_map& first_;
};

}  // namespace tidemark::hook
