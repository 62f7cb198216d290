// A reference to a Python object for as long as it lives. Requires: the GIL.
#pragma once

#include "shim/stacks/python_functions.hpp"

namespace tidemark::stacks {

class PythonReference {
 public:
  // Takes over a reference; null: none.
  PythonReference(const PythonFunctions& python, PythonObject* object) noexcept : python_(python), object_(object) {}
  ~PythonReference() { release(); }
  PythonReference(const PythonReference&) = delete;
  PythonReference& operator=(const PythonReference&) = delete;

  void reset(PythonObject* object) noexcept {
    release();
    object_ = object;
  }
  [[nodiscard]] PythonObject* get() const { return object_; }

 private:
  void release() noexcept {
    if (object_ != nullptr) {
      python_.Py_DecRef(object_);
    }
  }

  const PythonFunctions& python_;
  PythonObject* object_;
};

}  // namespace tidemark::stacks
