#include "shared/history/available_memory.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "shared/segment/proc_file.hpp"

namespace tidemark::history {
namespace {

constexpr std::uint64_t kUnknown = UINT64_MAX;

std::uint64_t number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? number : kUnknown;  // "max" is none either
}

std::uint64_t read_number(const char* path) {
  std::array<char, 64> buffer;  // uninitialised: filled by what is read
  return number_in(segment::read_start_of(path, buffer));
}

std::uint64_t of_machine() {
  constexpr std::string_view kLabel = "MemAvailable:";
  std::array<char, 512> buffer;  // uninitialised: filled by what is read
  const std::string_view text = segment::read_start_of("/proc/meminfo", buffer);
  const std::size_t at = text.find(kLabel);
  const std::uint64_t kib = at == std::string_view::npos ? kUnknown : number_in(text.substr(at + kLabel.size()));
  return kib > kUnknown / 1024 ? kUnknown : kib * 1024;
}

// The second version's files, as a container sees its own group; then the first's.
std::uint64_t of_container() {
  constexpr std::array<std::array<const char*, 2>, 2> kFiles{
      {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}};
  for (const auto& [limit_path, used_path] : kFiles) {
    const std::uint64_t limit = read_number(limit_path);
    const std::uint64_t used = read_number(used_path);
    if (limit != kUnknown && used != kUnknown) {
      return limit > used ? limit - used : 0;
    }
  }
  return kUnknown;
}

}  // namespace

std::uint64_t available_memory() noexcept { return std::min(of_machine(), of_container()); }

}  // namespace tidemark::history
