// The system calls of which segment_files.cpp makes a segment, each with the care it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/result.hpp"
#include "shared/segment/file_handle.hpp"

namespace tidemark::segment {

// What a name must lead to, to be the file that we made.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend constexpr bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

[[nodiscard]] Result<FileIdentity> identity_of(int fd) noexcept;
[[nodiscard]] bool leads_to(const char* path, const FileIdentity& identity) noexcept;

// May a file of so many bytes be made there, a `share`th of the free space at most? EROFS or ENOSPC says why not.
[[nodiscard]] Status check_space(const char* path, std::uint64_t bytes, std::uint64_t share) noexcept;
[[nodiscard]] std::uint64_t random_nonce() noexcept;

// posix_fallocate and not ftruncate: a full file system has to say so now, not as SIGBUS at the first store.
[[nodiscard]] Status allocate(int fd, std::size_t bytes) noexcept;

// The OFD lock says whether the owner lives; the flock lets a viewer in another pid namespace learn its pid
// (/proc/locks). Both belong to the file's description, which the mapping keeps: they end with the process, whatever
// ends it.
[[nodiscard]] Status lock(int fd) noexcept;

[[nodiscard]] Status write_all(int fd, std::span<const std::byte> bytes) noexcept;
// Never over an existing file, where the kernel can promise that.
[[nodiscard]] Status rename_to(const char* from, const char* to) noexcept;
// Can be sealed; not executable where the kernel knows how.
[[nodiscard]] Result<FileHandle> create_memfd(const char* name) noexcept;

}  // namespace tidemark::segment
