#include "shared/segment/liveness.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "shared/segment/file_handle.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/proc_file.hpp"

namespace tidemark::segment {
namespace {

std::string read_whole(const char* path) {
  const FileHandle file{::open(path, O_RDONLY | O_CLOEXEC)};
  std::string contents;
  std::array<char, 4096> buffer{};
  while (file) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    contents.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return contents;
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool parse(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

// "1: FLOCK  ADVISORY  WRITE 3912 00:1a:5678 0 EOF"
std::int64_t holder_in_line(std::string_view line, std::uint64_t device, std::uint64_t inode) {
  next_word(line);
  if (next_word(line) != "FLOCK") {
    return 0;
  }
  next_word(line);
  next_word(line);
  std::int64_t pid = 0;
  unsigned major_number = 0;
  unsigned minor_number = 0;
  std::uint64_t found_inode = 0;
  const bool has_pid = parse(next_word(line), pid);
  const std::string_view file = next_word(line);
  const std::size_t first = file.find(':');
  const std::size_t second = file.rfind(':');
  if (!has_pid || first == second || second == std::string_view::npos ||
      !parse(file.substr(0, first), major_number, 16) ||
      !parse(file.substr(first + 1, second - first - 1), minor_number, 16) ||
      !parse(file.substr(second + 1), found_inode)) {
    return 0;
  }
  return makedev(major_number, minor_number) == device && found_inode == inode && pid > 0 ? pid : 0;
}

// "/proc/PID" and `file`, which has at most 5 characters.
std::array<char, 32> proc_path(std::int64_t pid, std::string_view file) noexcept {
  std::array<char, 32> path{'/', 'p', 'r', 'o', 'c', '/'};
  auto* const end = std::to_chars(path.data() + 6, path.data() + 26, pid).ptr;
  file.copy(end, 5);
  return path;
}

std::optional<StatFields> read_stat(std::int64_t pid) noexcept {
  std::array<char, 1024> buffer;  // uninitialised: filled by what is read
  const std::string_view contents = read_once(proc_path(pid, "/stat").data(), buffer);
  return contents.empty() ? std::nullopt : std::optional{parse_proc_stat(contents)};
}

}  // namespace

bool is_locked(int fd, std::uint64_t byte) noexcept {
  struct flock probe {};
  probe.l_type = F_WRLCK;
  probe.l_whence = SEEK_SET;
  probe.l_start = static_cast<off_t>(byte);
  probe.l_len = 1;
  return ::fcntl(fd, F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
}

std::int64_t flock_holder(std::uint64_t device, std::uint64_t inode) {
  const std::string locks = read_whole("/proc/locks");
  std::string_view rest = locks;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (const std::int64_t pid = holder_in_line(line, device, inode); pid != 0) {
      return pid;
    }
  }
  return 0;
}

ProcessSign look_at_process(std::int64_t pid, std::uint64_t start_ticks) noexcept {
  if (pid <= 0 || pid > INT32_MAX) {
    return ProcessSign::Absent;
  }
  const std::optional<StatFields> fields = read_stat(pid);
  if (!fields) {
    // Gone, or hidden from us (hidepid).
    const bool is_gone = ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
    return is_gone ? ProcessSign::Absent : ProcessSign::Hidden;
  }
  if (start_ticks != 0 && fields->start_ticks != 0 && fields->start_ticks != start_ticks) {
    return ProcessSign::Absent;
  }
  return fields->state == 'T' || fields->state == 't' ? ProcessSign::Stopped : ProcessSign::Running;
}

bool has_program(std::int64_t pid, std::uint64_t start_ticks) noexcept {
  const ProcessSign sign = look_at_process(pid, start_ticks);
  std::array<char, 1> first{};
  // The kernel takes this link away with the memory of a process, before it is a zombie.
  return (sign == ProcessSign::Running || sign == ProcessSign::Stopped) &&
         ::readlink(proc_path(pid, "/exe").data(), first.data(), first.size()) == 1;
}

}  // namespace tidemark::segment
