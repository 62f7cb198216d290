// An object of static lifetime that the end of the program leaves alone: handlers of atexit() and destructors of static
// objects may call every function here, and come in any order.
#pragma once

#include <cstddef>
#include <new>

namespace tidemark::client {

template <class Object>
class NeverDestroyed {
 public:
  NeverDestroyed() { object_ = ::new (static_cast<void*>(storage_)) Object; }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  [[nodiscard]] Object& operator*() { return *object_; }

 private:
  alignas(Object) std::byte storage_[sizeof(Object)];
  Object* object_;
};

}  // namespace tidemark::client
