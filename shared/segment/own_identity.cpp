#include "shared/segment/own_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <span>
#include <string_view>

#include "shared/base/scratch.hpp"
#include "shared/segment/proc_file.hpp"

namespace tidemark::segment {
namespace {

std::uint64_t inode_of(const char* path) {
  struct stat info {};
  return ::stat(path, &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

std::array<std::uint64_t, 2> parse_boot_id(std::string_view text) {
  std::array<std::uint64_t, 2> id{};
  std::size_t digits = 0;
  for (const char c : text) {
    std::uint64_t digit = 0;
    if (c == '-' || c == '\n') {
      continue;
    }
    if (digits == 32 || std::from_chars(&c, &c + 1, digit, 16).ec != std::errc{}) {
      return {};
    }
    auto& half = id[digits++ / 16];
    half = (half << 4) | digit;
  }
  return digits == 32 ? id : std::array<std::uint64_t, 2>{};
}

}  // namespace

StatFields parse_proc_stat(std::string_view contents) noexcept {
  StatFields fields;
  const std::size_t name_end = contents.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= contents.size()) {
    return fields;
  }
  std::string_view rest = contents.substr(name_end + 2);
  fields.state = rest.front();
  // `state` is field 3, parent 4, start time 22.
  for (int field = 3; !rest.empty() && field <= 22; ++field) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view value = rest.substr(0, end);
    if (field == 4) {
      std::from_chars(value.data(), value.data() + value.size(), fields.parent_pid);
    } else if (field == 22) {
      std::from_chars(value.data(), value.data() + value.size(), fields.start_ticks);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fields;
}

std::uint64_t clock_ns(int clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t own_pid_namespace() noexcept { return inode_of("/proc/self/ns/pid"); }

OwnIdentity read_own_identity() noexcept {
  OwnIdentity own;
  const Scratch<std::array<char, 4096>> scratch;  // PATH_MAX
  const std::span<char> buffer = scratch ? std::span<char>{*scratch} : std::span<char>{};
  own.pid = static_cast<std::uint64_t>(::getpid());
  const StatFields stat = parse_proc_stat(read_start_of("/proc/self/stat", buffer));
  own.parent_pid = stat.parent_pid;
  own.start_ticks = stat.start_ticks;
  const long ticks = ::sysconf(_SC_CLK_TCK);
  own.ticks_per_second = ticks > 0 ? static_cast<std::uint64_t>(ticks) : 0;
  own.pid_namespace = own_pid_namespace();
  own.user_namespace = inode_of("/proc/self/ns/user");
  own.uid = ::geteuid();
  own.gid = ::getegid();
  own.boot_id = parse_boot_id(read_start_of("/proc/sys/kernel/random/boot_id", buffer));

  std::string_view comm = read_start_of("/proc/self/comm", buffer);
  own.comm = comm.substr(0, comm.find('\n'));
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (length > 0) {
    const std::string_view path{buffer.data(), static_cast<std::size_t>(length)};
    own.executable = path.substr(path.rfind('/') + 1);
  }
  own.command = command_name(read_start_of("/proc/self/cmdline", buffer),
                             own.executable.empty() ? own.comm.view() : own.executable.view());
  return own;
}

}  // namespace tidemark::segment
