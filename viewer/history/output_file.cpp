#include "viewer/history/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "viewer/exit_code.hpp"

namespace tidemark::viewer {
namespace {

// Is there a file?
bool check_place(const std::filesystem::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return false;  // open() says more
  }
  if (S_ISDIR(info.st_mode)) {
    throw Failure(ExitCode::Failed, fmt::format("{} is a directory; name a file in it", path.native()));
  }
  if (!S_ISREG(info.st_mode)) {
    throw Failure(ExitCode::Failed, fmt::format("{} is no ordinary file; name another", path.native()));
  }
  return true;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, bool overwrite, std::string_view option, unsigned mode)
    : path_(std::move(path)), option_(option), overwrite_(overwrite) {
  if (check_place(path_) && !overwrite_) {
    fail_exists();
  }
  temporary_ = path_;
  temporary_ += fmt::format(".{}.part", ::getpid());
  // What it tells of a program is its owner's to share.
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd_ < 0) {
    fail(errno);
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

void OutputFile::fail(int error) const {
  throw Failure(error == EACCES || error == EPERM ? ExitCode::PermissionDenied : ExitCode::Failed,
                fmt::format("cannot write {}: {}", path_.native(), std::strerror(error)));
}

void OutputFile::fail_exists() const {
  throw Failure(ExitCode::Failed,
                fmt::format("{} exists; -f overwrites it, {} writes elsewhere", path_.native(), option_));
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      fail(errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::finish() {
  if (overwrite_) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
      fail(errno);
    }
  } else if (::link(temporary_.c_str(), path_.c_str()) == 0) {
    ::unlink(temporary_.c_str());
  } else if (errno == EEXIST) {
    fail_exists();                                                // made by somebody else meanwhile
  } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {  // a file system without links
    fail(errno);
  }
  ::close(std::exchange(fd_, -1));
}

}  // namespace tidemark::viewer
