#include "viewer/doctor/segment_place.hpp"

#include "viewer/size_text.hpp"

#include "shared/segment/layout.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

namespace tidemark::viewer {
namespace {

// The segment and its control file.
constexpr std::uint64_t kBytesNeeded = segment::kSegmentBytes + 4096;

// By the mode alone. Of groups nothing is known: one that may write is taken to be theirs.
bool may_write(const struct stat& directory, uid_t user) {
  const mode_t others = S_IWGRP | S_IWOTH;
  return user == 0 || (directory.st_mode & (directory.st_uid == user ? mode_t{S_IWUSR} : others)) != 0;
}

}  // namespace

std::string trouble_in(const std::string& directory, const std::filesystem::path& root, uid_t user) {
  if (!directory.starts_with('/')) {
    return "is not an absolute path";
  }
  const std::string path = (root / directory.substr(1)).string();
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? "does not exist" : fmt::format("cannot be looked at ({})", std::strerror(errno));
  }
  if (!S_ISDIR(found.st_mode)) {
    return "is not a directory";
  }
  struct statvfs system {};
  if (statvfs(path.c_str(), &system) == 0) {
    if ((system.f_flag & ST_RDONLY) != 0) {
      return "is on a file system that is mounted read-only";
    }
    const std::uint64_t left = std::uint64_t{system.f_bavail} * system.f_frsize;
    if (left < kBytesNeeded) {
      return fmt::format("is full: {} left, {} needed for a process", size_words(left), size_words(kBytesNeeded));
    }
    if (system.f_files != 0 && system.f_favail < 2) {
      return "is full: no file can be made any more";
    }
  }
  return may_write(found, user) ? "" : fmt::format("may not be written by user {}", user);
}

}  // namespace tidemark::viewer
