// errno as the program left it, back at the end of a scope in which we made calls of our own.
#pragma once

#include <cerrno>

namespace tidemark::hook {

class KeptErrno {
 public:
  KeptErrno() noexcept : outer_(errno) {}
  ~KeptErrno() { errno = outer_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int outer_;
};

}  // namespace tidemark::hook
