#include "simulator/core/backing_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sim {

BackingFile::~BackingFile() {
  if (is_there()) close(file_.fd);
}

bool BackingFile::make() {
  const int fd = memfd_create("simulated-device-memory", MFD_CLOEXEC);
  if (fd < 0) return false;
  struct stat made {};
  if (fstat(fd, &made) != 0) {
    close(fd);
    return false;
  }
  file_ = {.fd = fd, .device = made.st_dev, .inode = made.st_ino};
  return true;
}

bool BackingFile::is_there() const {
  struct stat now {};
  return file_.fd >= 0 && fstat(file_.fd, &now) == 0 && now.st_dev == file_.device && now.st_ino == file_.inode;
}

std::optional<std::uint64_t> BackingFile::extend(std::uint64_t size) {
  if (file_.fd < 0 ? !make() : !is_there()) return std::nullopt;
  const std::uint64_t offset = end_;
  if (ftruncate(file_.fd, static_cast<off_t>(end_ + size)) != 0) return std::nullopt;
  end_ += size;
  return offset;
}

FileRange BackingFile::range_at(std::uint64_t offset) const {
  FileRange range = file_;
  range.offset = offset;
  return range;
}

}  // namespace sim
