#include "shim/runtime/path_pattern.hpp"

#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace tidemark::runtime {
namespace {

void add_number(PathText& path, std::uint64_t number) noexcept {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(number));
  path.append(digits);
}

void add_executable(PathText& path) noexcept {
  std::array<char, 512> link{};
  const ssize_t length = ::readlink("/proc/self/exe", link.data(), link.size() - 1);
  const std::string_view whole{link.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
  path.append(whole.substr(whole.rfind('/') + 1));
}

void add_host(PathText& path) noexcept {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) {
    path.append(name.data());
  }
}

// Not in the program's time zone: localtime takes a lock and may read files.
void add_time(PathText& path) noexcept {
  const time_t now = ::time(nullptr);
  tm parts{};
  char text[32];
  if (::gmtime_r(&now, &parts) != nullptr) {
    std::snprintf(text, sizeof text, "%04d%02d%02d-%02d%02d%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                  parts.tm_hour, parts.tm_min, parts.tm_sec);
    path.append(text);
  }
}

}  // namespace

void fill_in(PathText& path, std::string_view pattern, std::uint64_t number) noexcept {
  path.assign({});
  while (!pattern.empty()) {
    const std::size_t plain = pattern.find('%');
    path.append(pattern.substr(0, plain));
    if (plain == std::string_view::npos || plain + 1 == pattern.size()) {
      path.append(plain == std::string_view::npos ? "" : "%");
      return;
    }
    switch (pattern[plain + 1]) {
      case 'p':
        add_number(path, static_cast<std::uint64_t>(::getpid()));
        break;
      case 'e':
        add_executable(path);
        break;
      case 'h':
        add_host(path);
        break;
      case 't':
        add_time(path);
        break;
      case 'n':
        add_number(path, number);
        break;
      case '%':
        path.append("%");
        break;
      default:
        path.append(pattern.substr(plain, 2));
    }
    pattern.remove_prefix(plain + 2);
  }
}

}  // namespace tidemark::runtime
