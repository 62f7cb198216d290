#include "shared/segment/file_steps.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "shared/segment/mapping.hpp"
#include "shared/segment/own_identity.hpp"

// Newer than some C libraries' headers.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

namespace tidemark::segment {

std::uint64_t random_nonce() noexcept {
  std::uint64_t nonce = 0;
  // GRND_NONBLOCK: early in boot the pool isn't ready, and the host program must not wait for it.
  if (::getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof nonce)) {
    return nonce;
  }
  // O_EXCL guards the name; this only has to differ from other processes' and runs'.
  return clock_ns(CLOCK_REALTIME) * 0x9E3779B97F4A7C15 ^ clock_ns(CLOCK_MONOTONIC) ^
         (static_cast<std::uint64_t>(::getpid()) << 40);
}

Result<FileIdentity> identity_of(int fd) noexcept {
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    return system_error(errno);
  }
  return FileIdentity{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

bool leads_to(const char* path, const FileIdentity& identity) noexcept {
  struct stat info {};
  return ::lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
         FileIdentity{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)} == identity;
}

Status check_space(const char* path, std::uint64_t bytes, std::uint64_t share) noexcept {
  struct statvfs space {};
  if (::statvfs(path, &space) != 0) {
    return system_error(errno);
  }
  if ((space.f_flag & ST_RDONLY) != 0) {
    return system_error(EROFS);
  }
  const std::uint64_t left = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  const bool has_limit = space.f_blocks != 0;  // a tmpfs without one says 0 blocks in all
  return has_limit && bytes > left / share ? Status{system_error(ENOSPC)} : Status{};
}

Status allocate(int fd, std::size_t bytes) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) {
    return Error{ErrorCode::NoSpace, EFBIG};  // the kernel would send SIGXFSZ, which ends the program
  }
  int result = 0;
  do {
    result = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (result == EINTR);
  return result == 0 ? Status{} : Status{system_error(result)};
}

Status lock(int fd) noexcept {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  whole.l_start = 0;
  whole.l_len = 1;
  if (::fcntl(fd, F_OFD_SETLK, &whole) != 0) {
    return system_error(errno);
  }
  static_cast<void>(::flock(fd, LOCK_EX | LOCK_NB));  // not every file system has it; only a label depends on it
  return {};
}

Status write_all(int fd, std::span<const std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return system_error(wrote == 0 ? ENOSPC : errno);
    }
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

Status rename_to(const char* from, const char* to) noexcept {
  if (::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
    return {};
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return system_error(errno);
  }
  return ::rename(from, to) == 0 ? Status{} : Status{system_error(errno)};
}

Result<FileHandle> create_memfd(const char* name) noexcept {
  int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) {
    fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  }
  if (fd < 0) {
    return system_error(errno);
  }
  return FileHandle{fd};
}

}  // namespace tidemark::segment
