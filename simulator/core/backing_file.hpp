// A file without a name that holds the bytes of one device, so that another process can map a part of them.
//
// One descriptor a device, closed on exec. A program may close descriptors that it doesn't know, and the number may
// then be another file's: every use looks first. Not thread-safe: DeviceMemory's mutex guards it.
#pragma once

#include <cstdint>
#include <optional>

namespace sim {

// Where bytes of a device can be found by another process: /proc/<this pid>/fd/<fd>, if it is still this file.
struct FileRange {
  int fd = -1;
  std::uint64_t device = 0;  // st_dev and st_ino of the file
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
};

class BackingFile {
 public:
  BackingFile() = default;
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;
  ~BackingFile();

  // A new range of the file, page-aligned, never given out before; made on first use. Nothing where the system has no
  // such file for us: the bytes then stay this process's own.
  std::optional<std::uint64_t> extend(std::uint64_t size);
  // Requires: extend() gave this offset.
  [[nodiscard]] FileRange range_at(std::uint64_t offset) const;
  [[nodiscard]] bool is_there() const;

 private:
  bool make();

  FileRange file_{};
  std::uint64_t end_ = 0;
};

}  // namespace sim
