// Who this process is, from /proc/self. No allocation; what cannot be read stays 0 or empty.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "shared/segment/command_name.hpp"
#include "shared/segment/text.hpp"

namespace tidemark::segment {

struct OwnIdentity {
  std::uint64_t pid = 0;
  std::uint64_t parent_pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t ticks_per_second = 0;
  std::uint64_t pid_namespace = 0;
  std::uint64_t user_namespace = 0;
  std::uint64_t uid = 0;  // effective, as files get it
  std::uint64_t gid = 0;
  std::array<std::uint64_t, 2> boot_id{};
  Text<16> comm;
  Text<64> executable;
  CommandText command;
};

[[nodiscard]] OwnIdentity read_own_identity() noexcept;

// Inode of the caller's pid namespace; 0 = unknown.
[[nodiscard]] std::uint64_t own_pid_namespace() noexcept;

// From a /proc/PID/stat: its comm may hold spaces and parentheses, so fields count from the last ')'.
struct StatFields {
  char state = '?';
  std::uint64_t parent_pid = 0;
  std::uint64_t start_ticks = 0;
};
[[nodiscard]] StatFields parse_proc_stat(std::string_view contents) noexcept;

// Nanoseconds of a clock (CLOCK_REALTIME, ...).
[[nodiscard]] std::uint64_t clock_ns(int clock) noexcept;

}  // namespace tidemark::segment
