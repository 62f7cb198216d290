// A backend's driver, asked as any program asks it: the library in front of it sees these calls like the program's own.
// Threads: any. Errors: Failure(DRIVER) with the driver's code.
#pragma once

#include <cstdint>

#include "client/library/device_word.hpp"

namespace tidemark::client {

struct MemoryFigures {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;

  // Is it in this process? Loads nothing.
  [[nodiscard]] virtual bool is_loaded() const = 0;

  // These load it.
  virtual void init() = 0;
  [[nodiscard]] virtual std::uint32_t count() = 0;  // 0 without a driver
  virtual void set_current(std::uint32_t ordinal) = 0;
  [[nodiscard]] virtual MemoryFigures memory_info(std::uint32_t ordinal) = 0;

  // Of the calling thread; 0 while there is no driver, or none was chosen.
  [[nodiscard]] virtual std::uint32_t current() = 0;
};

// Requires: Cuda or Mtia.
[[nodiscard]] Driver& driver_of(Backend backend);

}  // namespace tidemark::client
