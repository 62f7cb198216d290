// What the MTIA driver's calls become. Each answers the code that the program gets, or nothing: then the call is the
// driver's, untouched. Threads: any; only inside intercept().
#pragma once

#include <cstddef>

#include "mtia.h"
#include "shim/runtime/answer.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

class MtiaCalls {
 public:
  explicit MtiaCalls(Runtime& runtime) noexcept : runtime_(runtime) {}

  Answer<mtiaResult_t> allocate(void** ptr, std::size_t size) noexcept;
  Answer<mtiaResult_t> release(void* ptr) noexcept;
  Answer<mtiaResult_t> memory_info(std::size_t* free, std::size_t* total) noexcept;
  Answer<mtiaResult_t> reset_device() noexcept;

 private:
  Runtime& runtime_;
};

}  // namespace tidemark::runtime
