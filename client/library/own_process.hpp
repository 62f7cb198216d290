// This process, through the preload library's table.
#pragma once

#include <array>

#include "client/library/shim.hpp"
#include "client/library/subject.hpp"

namespace tidemark::client {

// Both empty: it has no segment (yet).
struct OwnIdentity {
  std::array<char, 9> id{};      // 8 hex digits
  std::array<char, 65> label{};  // up to 64 bytes
};

class OwnProcess final : public Subject {
 public:
  // Has memory been asked for on the backend, or has the program initialised it through us?
  [[nodiscard]] static bool is_initialized(Backend backend);
  static void init(Backend backend);
  // What it uses, or has initialised, or has a loaded driver for; Unknown: none. Loads nothing.
  [[nodiscard]] static Backend used_backend();

  // The device that a word means; Backend::Unknown: its backend is not initialised. Asks no driver then.
  [[nodiscard]] static DeviceName resolve(const DeviceWord& word);

  [[nodiscard]] std::vector<DeviceName> devices() override;
  [[nodiscard]] DeviceBasis counters(const DeviceWord& device) override;
  [[nodiscard]] MemoryFigures memory_info(const DeviceWord& device) override;
  void reset(Reset what, const DeviceWord& device) override;
  void empty_cache(const DeviceWord& device) override;
  void set_limit(const DeviceWord& device, std::uint64_t bytes) override;
  void record(history::Enabled enabled, history::Stacks stacks, std::uint64_t max_entries) override;
  void stop_recording() override;
  void save_snapshot(const std::string& path) override;

  [[nodiscard]] static OwnIdentity identity();
};

// Where a device of an initialised backend has no counters yet: zeros, or Failure for a device that there isn't.
[[nodiscard]] DeviceBasis untouched(const DeviceName& device);

[[nodiscard]] OwnProcess& own_process();

}  // namespace tidemark::client
