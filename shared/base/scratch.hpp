// A T in pages of its own for as long as it lives: for what is too large for the stack of a program's thread, of which
// 16 KiB is all that some have (PTHREAD_STACK_MIN). Empty where there is no memory.
#pragma once

#include <sys/mman.h>

#include <new>
#include <utility>

namespace tidemark {

template <class T>
class Scratch {
 public:
  template <class... Arguments>
  explicit Scratch(Arguments&&... arguments) noexcept {
    void* pages = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      value_ = new (pages) T(std::forward<Arguments>(arguments)...);
    }
  }
  ~Scratch() {
    if (value_ != nullptr) {
      value_->~T();
      ::munmap(value_, sizeof(T));
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  explicit operator bool() const noexcept { return value_ != nullptr; }
  T& operator*() const noexcept { return *value_; }
  T* operator->() const noexcept { return value_; }

 private:
  T* value_ = nullptr;
};

}  // namespace tidemark
