// A file of the process's own beside its segment, as `<segment><suffix>`: in its directory, with its mode. It has its
// name only once it is whole, and its lock as long as the process lives.
//
//   FileBeside file;
//   file.place(segment_path, kHistorySuffix), then create(nonce), map(fd, bytes) and what is to be in it, finish(made)
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/base/result.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/file_steps.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/segment_files.hpp"

namespace tidemark::segment {

class FileBeside {
 public:
  // Where it will be. Unsupported: the segment has no name.
  [[nodiscard]] Status place(const char* segment_path, std::string_view suffix) noexcept;
  // Under a name that nobody looks at, until finish(). Requires: place() succeeded.
  [[nodiscard]] Result<FileHandle> create(std::uint64_t nonce) noexcept;
  // So many bytes of it, which are surely there, and the lock.
  [[nodiscard]] Result<Mapping> map(int fd, std::size_t bytes) noexcept;
  // Gives it its mode and its name, if `made` says so; else nothing is left. Returns what became of it.
  [[nodiscard]] Status finish(int fd, Status made) noexcept;

  // If the name still leads to it.
  void remove() const noexcept;

  [[nodiscard]] const char* directory() const noexcept { return directory_.c_str(); }
  [[nodiscard]] const char* path() const noexcept { return path_.c_str(); }
  [[nodiscard]] const FileIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] mode_t mode() const noexcept { return mode_; }

 private:
  PathText directory_;
  PathText path_;
  PathText temporary_;
  std::string_view suffix_;
  FileIdentity identity_;
  mode_t mode_ = 0400;
};

}  // namespace tidemark::segment
