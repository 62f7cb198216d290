// Bytes that can be mapped at several places at once, and by other processes: what a handle of physical memory stands
// for. They go with the last reference and the last mapping. Any thread may call.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "simulator/core/status.hpp"

namespace sim {

class SharedBytes {
  struct Private {};

 public:
  // What an exported descriptor tells another process.
  struct Label {
    std::uint64_t size = 0;
    std::int32_t device = -1;  // the machine's index; -1: the host's
    std::uint32_t handle_types = 0;
  };

  // Zeroes. nullptr when the host refuses. Requires: size > 0, a multiple of the page. Exportable ones cost an open
  // descriptor each.
  static std::shared_ptr<SharedBytes> make(std::uint64_t size);
  static std::shared_ptr<SharedBytes> make_exportable(const Label& label);
  // Those behind a descriptor that export_descriptor() gave here or elsewhere. nullptr for any other descriptor.
  static std::shared_ptr<SharedBytes> open(int fd, Label& label);

  SharedBytes(Private, void* bytes, std::uint64_t size, int fd);
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes();

  // Maps the first `size` of them at `at`, over what is mapped there. Requires: size <= size().
  [[nodiscard]] bool map_at(Address at, std::uint64_t size) const;
  // The caller's to close; -1: not exportable, or no more descriptors.
  [[nodiscard]] int export_descriptor() const;
  // `fd` is of the same bytes.
  [[nodiscard]] bool is_behind(int fd) const;

 private:
  void* const bytes_;
  const std::uint64_t size_;
  const int fd_;
};

}  // namespace sim
