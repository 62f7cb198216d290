#include "shared/segment/file_beside.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "shared/segment/names.hpp"

namespace tidemark::segment {

Status FileBeside::place(const char* segment_path, std::string_view suffix) noexcept {
  const std::string_view segment{segment_path};
  struct stat info {};
  if (segment.find('/') == std::string_view::npos || ::stat(segment_path, &info) != 0) {
    return segment.empty() ? Error{ErrorCode::Unsupported, 0} : system_error(errno);
  }
  mode_ = info.st_mode & 0777;
  suffix_ = suffix;
  directory_.assign(segment.substr(0, segment.rfind('/')));
  path_.assign(segment);
  path_.append(suffix);
  return {};
}

Result<FileHandle> FileBeside::create(std::uint64_t nonce) noexcept {
  NameText name = temporary_name(nonce, false);
  name.append(suffix_);
  temporary_.assign(directory_.view());
  temporary_.append("/");
  temporary_.append(name.view());
  return create_file(directory_.c_str(), name.c_str());
}

Result<Mapping> FileBeside::map(int fd, std::size_t bytes) noexcept {
  if (const Status allocated = allocate(fd, bytes); !allocated) {
    return allocated.error();
  }
  Result<Mapping> mapped = Mapping::of(fd, MapMode::ReadWrite, bytes);
  const Result<FileIdentity> made = identity_of(fd);
  if (!mapped || !made) {
    return mapped ? made.error() : mapped.error();
  }
  identity_ = made.value();
  const Status locked = lock(fd);
  return locked ? std::move(mapped) : Result<Mapping>{locked.error()};
}

Status FileBeside::finish(int fd, Status made) noexcept {
  if (made && ::fchmod(fd, mode_) != 0) {
    made = system_error(errno);
  }
  if (made) {
    made = rename_to(temporary_.c_str(), path_.c_str());
  }
  if (!made) {
    ::unlink(temporary_.c_str());
  }
  return made;
}

void FileBeside::remove() const noexcept {
  if (leads_to(path_.c_str(), identity_)) {
    ::unlink(path_.c_str());
  }
}

}  // namespace tidemark::segment
