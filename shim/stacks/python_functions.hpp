// The interpreter of this process, as the functions of Python's C API that a walk of its frames calls. Nothing is
// linked: programs without Python never meet any of it.
#pragma once

#include <link.h>

#include <cstddef>

namespace tidemark::stacks {

// Python's types, which are only handed through.
struct PythonObject;
struct PythonThread;

// name as Python has it, result, arguments. Versions 3.8 to 3.13 have all of the first list.
#define TIDEMARK_PYTHON_FUNCTIONS(X)                                        \
  X(PyGILState_Check, int, (void))                                          \
  X(PyGILState_GetThisThreadState, PythonThread*, (void))                   \
  X(PyEval_GetFrame, PythonObject*, (void))                                 \
  X(PyFrame_GetLineNumber, int, (PythonObject*))                            \
  X(PyObject_GetAttrString, PythonObject*, (PythonObject*, const char*))    \
  X(PyUnicode_AsUTF8AndSize, const char*, (PythonObject*, std::ptrdiff_t*)) \
  X(PyObject_Hash, std::ptrdiff_t, (PythonObject*))                         \
  X(PyErr_Occurred, PythonObject*, (void))                                  \
  X(PyErr_Clear, void, (void))                                              \
  X(PyErr_Fetch, void, (PythonObject**, PythonObject**, PythonObject**))    \
  X(PyErr_Restore, void, (PythonObject*, PythonObject*, PythonObject*))     \
  X(Py_IncRef, void, (PythonObject*))                                       \
  X(Py_DecRef, void, (PythonObject*))                                       \
  X(Py_GetVersion, const char*, (void))

// Null where a version hasn't got it.
#define TIDEMARK_PYTHON_OPTIONAL_FUNCTIONS(X)                           \
  X(_PyThreadState_UncheckedGet, PythonThread*, (void)) /* to 3.12 */   \
  X(PyThreadState_GetUnchecked, PythonThread*, (void))  /* from 3.13 */ \
  X(_Py_IsFinalizing, int, (void))                      /* to 3.12 */   \
  X(Py_IsFinalizing, int, (void))                       /* from 3.13 */ \
  X(PyFrame_GetBack, PythonObject*, (PythonObject*))    /* from 3.9 */  \
  X(PyFrame_GetCode, PythonObject*, (PythonObject*))    /* from 3.9 */  \
  X(PyGC_Disable, int, (void))                          /* from 3.10 */ \
  X(PyGC_Enable, int, (void))

struct PythonFunctions {
#define X(name, result, arguments) result(*name) arguments = nullptr;
  TIDEMARK_PYTHON_FUNCTIONS(X)
  TIDEMARK_PYTHON_OPTIONAL_FUNCTIONS(X)
#undef X
  const link_map* object = nullptr;  // where they are
  bool can_be_walked = false;        // not: older than 3.8, or without a GIL

  [[nodiscard]] PythonThread* running_thread() const {
    return PyThreadState_GetUnchecked != nullptr ? PyThreadState_GetUnchecked() : _PyThreadState_UncheckedGet();
  }
  [[nodiscard]] bool is_finalizing() const {
    return Py_IsFinalizing != nullptr ? Py_IsFinalizing() != 0 : _Py_IsFinalizing() != 0;
  }
  // An address is all that is compared: no lock, nothing called.
  [[nodiscard]] bool are_loaded() const;
};

// False: that is no interpreter. Requires: it stays loaded meanwhile. Takes no lock.
[[nodiscard]] bool find_python_in(const link_map& object, PythonFunctions& functions) noexcept;

}  // namespace tidemark::stacks
