#include "shim/hook/symbol_lookup.hpp"

#include <dlfcn.h>

#include <cstring>

#include "shim/hook/loaded_object.hpp"
#include "shim/hook/object_list.hpp"
#include "shim/hook/own_object.hpp"

namespace tidemark::hook {
namespace {

bool has_prefix(const link_map& object, const char* prefix) noexcept {
  return std::strncmp(file_name_of(object), prefix, std::strlen(prefix)) == 0;
}

// What a search met first, where neither we nor the caller count.
class Search {
 public:
  Search(const char* name, const link_map* caller) noexcept
      : name_(name), caller_(caller), ours_(object_of(address_in_our_object())) {}

  // For the walks of ObjectList: true ends them.
  bool operator()(const link_map& object) noexcept {
    if (&object == ours_ || &object == caller_) {
      return false;
    }
    found_ = exported_function(object, name_);
    object_ = &object;
    return found_ != nullptr;
  }

  [[nodiscard]] void* found() const noexcept { return found_; }
  [[nodiscard]] const link_map& object() const noexcept { return *object_; }
  [[nodiscard]] const link_map* ours() const noexcept { return ours_; }

 private:
  const char* name_;
  const link_map* caller_;
  const link_map* ours_;
  void* found_ = nullptr;
  const link_map* object_ = nullptr;
};

// A library that has a function of the name itself calls us to reach the next one; and the program's own scope is where
// we come first.
bool has_scope_to_ask(const ObjectList& objects, const link_map* caller, const char* name) noexcept {
  return caller != nullptr && !objects.is_program(*caller) && exported_function(*caller, name) == nullptr;
}

void* search_all(const ObjectList& objects, const LookUp& wanted) noexcept {
  const link_map* caller = object_of(wanted.caller);
  Search search{wanted.name, caller};
  if (has_scope_to_ask(objects, caller, wanted.name) && objects.find_in_scope_of(*caller, search)) {
    return search.found();
  }
  if (objects.find_after(*search.ours(), search) && objects.is_from_the_start(search.object())) {
    return search.found();
  }
  const auto is_in_the_library = [&](const link_map& object) {
    return has_prefix(object, wanted.library_prefix) && search(object);
  };
  return objects.find(is_in_the_library) ? search.found() : nullptr;
}

}  // namespace

void* find_real_function(const LookUp& wanted) noexcept {
  void* found = nullptr;
  ObjectList::hold_still([&](const ObjectList& objects) { found = search_all(objects, wanted); });
  return found;
}

void* find_beside(const void* known, const char* name) noexcept {
  const link_map* object = object_of(known);
  Search search{name, nullptr};
  if (object != nullptr && !search(*object)) {
    ObjectList::hold_still([&](const ObjectList& objects) { (void)objects.find_in_scope_of(*object, search); });
  }
  return search.found();
}

bool are_in_one_object(const void* a, const void* b) noexcept {
  return a == nullptr || b == nullptr || object_of(a) == object_of(b);
}

bool is_never_unloaded(const void* address) noexcept {
  const link_map* object = object_of(address);
  bool stays = object != nullptr && is_linked_to_stay(*object);
  if (object != nullptr && !stays) {
    ObjectList::hold_still([&](const ObjectList& objects) { stays = objects.is_from_the_start(*object); });
  }
  return stays;
}

void keep_loaded(const void* address) noexcept {
  const link_map* object = object_of(address);
  if (object != nullptr && !is_never_unloaded(address)) {
    dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlerror();  // what it may have to say is not the program's
  }
}

bool is_in_library(const void* address, const char* prefix) noexcept {
  const link_map* object = object_of(address);
  return object != nullptr && has_prefix(*object, prefix);
}

}  // namespace tidemark::hook
