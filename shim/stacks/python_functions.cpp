#include "shim/stacks/python_functions.hpp"

#include <cstring>

#include "shim/hook/loaded_object.hpp"

namespace tidemark::stacks {
namespace {

template <class Function>
void find(const link_map& object, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(hook::exported_function(object, name));
}

void fill(const link_map& object, PythonFunctions& functions) noexcept {
#define X(name, result, arguments) find(object, #name, functions.name);
  TIDEMARK_PYTHON_FUNCTIONS(X)
  TIDEMARK_PYTHON_OPTIONAL_FUNCTIONS(X)
#undef X
  bool has_all = true;
#define X(name, result, arguments) has_all = has_all && functions.name != nullptr;
  TIDEMARK_PYTHON_FUNCTIONS(X)
#undef X
  const bool tells_who_runs =
      functions.PyThreadState_GetUnchecked != nullptr || functions._PyThreadState_UncheckedGet != nullptr;
  const bool tells_its_end = functions.Py_IsFinalizing != nullptr || functions._Py_IsFinalizing != nullptr;
  functions.object = &object;
  functions.can_be_walked = has_all && tells_who_runs && tells_its_end &&
                            // Frames of a thread may be looked at by others there, at any time.
                            std::strstr(functions.Py_GetVersion(), "free-threading") == nullptr;
}

}  // namespace

bool PythonFunctions::are_loaded() const {
  return hook::object_of(reinterpret_cast<const void*>(PyGILState_Check)) == object;
}

bool find_python_in(const link_map& object, PythonFunctions& functions) noexcept {
  if (hook::exported_function(object, "PyGILState_GetThisThreadState") == nullptr ||
      hook::exported_function(object, "PyGILState_Check") == nullptr) {
    return false;
  }
  fill(object, functions);
  return true;
}

}  // namespace tidemark::stacks
