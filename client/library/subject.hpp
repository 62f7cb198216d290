// Whose memory a function is about: this process, or another that was opened. Threads: any. Errors: Failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/library/device_word.hpp"
#include "client/library/driver.hpp"
#include "shared/base/device_basis.hpp"
#include "shared/history/words.hpp"

namespace tidemark::client {

enum class Reset { Peaks, Accumulated };

class Subject {
 public:
  virtual ~Subject() = default;

  // In the order in which the process came to use them.
  [[nodiscard]] virtual std::vector<DeviceName> devices() = 0;

  // Failure(NOT_INITIALIZED): no number yet, which most callers take for 0.
  [[nodiscard]] virtual DeviceBasis counters(const DeviceWord& device) = 0;
  [[nodiscard]] virtual MemoryFigures memory_info(const DeviceWord& device) = 0;

  // Uninitialised: nothing to do.
  virtual void reset(Reset what, const DeviceWord& device) = 0;
  virtual void empty_cache(const DeviceWord& device) = 0;
  virtual void set_limit(const DeviceWord& device, std::uint64_t bytes) = 0;

  virtual void record(history::Enabled enabled, history::Stacks stacks, std::uint64_t max_entries) = 0;
  virtual void stop_recording() = 0;
  // A new file, as the library writes it.
  virtual void save_snapshot(const std::string& path) = 0;
};

}  // namespace tidemark::client
