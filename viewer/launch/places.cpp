#include "viewer/launch/places.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/launch/preload_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tidemark::viewer {
namespace fs = std::filesystem;
namespace {

fs::path find(const fs::path& bin, std::array<const char*, 2> candidates, const char* what) {
  std::error_code ignored;
  for (const char* candidate : candidates) {
    if (fs::exists(bin / candidate, ignored)) {
      return fs::canonical(bin / candidate);
    }
  }
  throw Failure(ExitCode::CannotLaunch, fmt::format("{} not found: neither {} nor {}; is the installation complete?",
                                                    what, (bin / candidates[0]).lexically_normal().string(),
                                                    (bin / candidates[1]).lexically_normal().string()));
}

// A directory that nobody else can put anything into, made if need be.
bool private_directory(const fs::path& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return false;
  }
  struct stat found {};
  return lstat(directory.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & 0022U) == 0;
}

// The same target gives the same link, so that a thousand runs leave one.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

fs::path executable_directory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw Failure(ExitCode::CannotLaunch, "cannot read /proc/self/exe, so the library next to it cannot be found");
  }
  return self.parent_path();
}

fs::path find_library(const fs::path& bin) {
  return find(bin, {"../lib/libtidemark.so", "../lib/tidemark/libtidemark.so"}, "the library libtidemark.so");
}

fs::path find_simulator(const fs::path& bin) {
  return find(bin, {"../simulator", "../lib/tidemark/simulator"}, "the directory of the simulated drivers");
}

fs::path link_in(const fs::path& base, const fs::path& target) {
  const fs::path ours = base / fmt::format("tidemark-{}", geteuid());
  const fs::path directory = ours / hash_of(target.string());
  fs::path link = directory / target.filename();
  if (!private_directory(ours) || !private_directory(directory) || !fits_in_preload(link.string())) {
    return {};
  }
  std::error_code error;
  if (fs::read_symlink(link, error) == target) {
    return link;
  }
  // Made aside and renamed: another `run` at the same moment sees the old link or the new one.
  const fs::path fresh = directory / fmt::format(".new.{}", getpid());
  fs::create_symlink(target, fresh, error);
  if (!error) {
    fs::rename(fresh, link, error);
  }
  return error ? fs::path{} : link;
}

fs::path loadable_path(const fs::path& target) {
  if (fits_in_preload(target.string())) {
    return target;
  }
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  for (const char* base : {runtime, "/tmp"}) {
    if (base == nullptr || *base != '/') {
      continue;
    }
    if (fs::path link = link_in(base, target); !link.empty()) {
      return link;
    }
  }
  throw Failure(
      ExitCode::CannotLaunch,
      fmt::format("the loader cannot read the path '{}' (blank, colon or dollar sign), and no private "
                  "directory for a link could be made under XDG_RUNTIME_DIR or /tmp; install Tidemark elsewhere",
                  target.string()));
}

}  // namespace tidemark::viewer
