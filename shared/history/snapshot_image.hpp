// A history of one moment, built in memory and then saved: the same bytes as a history that is being written.
//
// Threads: one at a time. The room is taken beforehand, so that filling it, under a device's lock, allocates nothing.
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/result.hpp"
#include "shared/history/device_writer.hpp"
#include "shared/history/process_tables.hpp"
#include "shared/history/table_sizes.hpp"

namespace tidemark::history {

class SnapshotImage {
 public:
  SnapshotImage() = default;
  SnapshotImage(const SnapshotImage&) = delete;
  SnapshotImage& operator=(const SnapshotImage&) = delete;
  ~SnapshotImage();

  // Once. Requires: at most kDeviceRecords devices. System without memory.
  [[nodiscard]] Status make(const FileWords& words, const ProcessSizes& process,
                            std::span<const DeviceSizes> devices) noexcept;

  // Requires: make() succeeded; an index of its `devices`.
  [[nodiscard]] DeviceWriter& device(std::size_t index) noexcept { return devices_[index]; }
  [[nodiscard]] ProcessTables& tables() noexcept { return *tables_; }
  void set_beat(std::uint64_t number, std::uint64_t now_ns) noexcept;

  // A new file of mode 0600; one that exists is not replaced. Nothing is left behind on failure.
  [[nodiscard]] Status save(const char* path) const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  Layout* layout_ = nullptr;
  ProcessTables* tables_ = nullptr;
  alignas(ProcessTables) std::byte tables_place_[sizeof(ProcessTables)];
  DeviceWriter devices_[kDeviceRecords];
};

}  // namespace tidemark::history
