#include "shim/hook/driver_anchor.hpp"

#include "shim/hook/loaded_object.hpp"
#include "shim/hook/symbol_lookup.hpp"

namespace tidemark::hook {
namespace {

const void* section_of(const void* function) noexcept {
  const link_map* object = object_of(function);
  return object == nullptr ? nullptr : object->l_ld;
}

}  // namespace

void* DriverAnchor::function() const noexcept {
  void* known = function_.load(std::memory_order_acquire);
  return stays() || holds(known) ? known : nullptr;
}

bool DriverAnchor::holds(const void* function) const noexcept {
  const void* section = section_of(function);
  return section != nullptr && section == section_.load(std::memory_order_acquire);
}

void DriverAnchor::learn(void* function) noexcept {
  if (this->function() != nullptr) {
    return;
  }
  section_.store(section_of(function), std::memory_order_release);
  function_.store(function, std::memory_order_release);
  if (is_never_unloaded(function)) {
    stays_.store(true, std::memory_order_release);
  }
}

void DriverAnchor::keep() noexcept {
  if (void* known = function(); known != nullptr && !stays()) {
    keep_loaded(known);
    stays_.store(true, std::memory_order_release);
  }
}

const void* DriverAnchor::identity() const noexcept { return section_of(function()); }

}  // namespace tidemark::hook
