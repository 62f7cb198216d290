// The one place that touches Boost.Interprocess: files and mappings, with its exceptions turned into errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "shared/base/result.hpp"
#include "shared/segment/file_handle.hpp"

namespace tidemark::segment {

// Code for an errno, as the contracts of this room name them.
[[nodiscard]] Error system_error(int error_number) noexcept;

// A new, empty file `directory`/`name` of mode 0600, open for reading and writing. Fails if the name exists, as file or
// link. Boost's shared_memory_object in /dev/shm, its file_mapping elsewhere.
[[nodiscard]] Result<FileHandle> create_file(const char* directory, const char* name) noexcept;

enum class MapMode { ReadOnly, ReadWrite };

// A shared mapping of a part of a file. It keeps the file's description, and so its locks, when `fd` is
// closed. Not inherited by a forked child.
class Mapping {
 public:
  Mapping() noexcept;
  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();

  // Requires: the file has `bytes` bytes of backing behind `offset`, which is a whole number of pages.
  [[nodiscard]] static Result<Mapping> of(int fd, MapMode mode, std::size_t bytes, std::uint64_t offset = 0) noexcept;

  [[nodiscard]] std::byte* address() const noexcept;  // nullptr: nothing is mapped
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Region;
  explicit Mapping(std::unique_ptr<Region> region) noexcept;

  std::unique_ptr<Region> region_;
};

}  // namespace tidemark::segment
