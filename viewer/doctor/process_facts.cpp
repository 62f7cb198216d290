#include "viewer/doctor/process_facts.hpp"

#include "viewer/doctor/segment_place.hpp"
#include "viewer/launch/elf_facts.hpp"
#include "viewer/launch/mapped_file.hpp"

#include "shared/segment/names.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace tidemark::viewer {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_driver(std::string_view name) {
  return name.starts_with("libcuda.so") || name.starts_with("libcudart.so") || name.starts_with("libmtia.so");
}

// The path is what follows the fifth blank-separated column.
void read_maps(const fs::path& process, ProcessFacts& facts) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) {
    facts.is_readable = true;
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) {
      continue;
    }
    std::string path = line.substr(slash);
    const bool is_deleted = path.ends_with(kDeleted);
    if (is_deleted) {
      path.erase(path.size() - kDeleted.size());
    }
    if (base_name(path) == "libtidemark.so") {
      facts.library = path;
      facts.is_library_replaced = is_deleted;
    } else if (is_driver(base_name(path)) && std::ranges::find(facts.drivers, path) == facts.drivers.end()) {
      facts.drivers.push_back(path);
    }
  }
}

bool is_secure(const fs::path& process) {
  std::ifstream file(process / "auxv", std::ios::binary);
  Elf64_auxv_t entry{};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof entry)) {
    if (entry.a_type == AT_SECURE) {
      return entry.a_un.a_val != 0;
    }
  }
  return false;
}

bool is_zombie(const fs::path& process) {
  std::ifstream status(process / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) {
      return line.find('Z') != std::string::npos;
    }
  }
  return false;
}

bool has_other_root(const fs::path& process) {
  std::error_code error;
  const fs::path theirs = fs::read_symlink(process / "ns/mnt", error);
  return !error && theirs != fs::read_symlink("/proc/self/ns/mnt", error) && !error;
}

}  // namespace

std::vector<std::string> preload_parts(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(" :"), list.size());
    if (end > 0) {
      parts.emplace_back(list.substr(0, end));
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

bool has_our_names(const std::string& path) {
  const MappedFile file(path);
  for (const std::string_view name : {"cuMemAlloc_v2", "cuMemAllocAsync", "cuMemAllocManaged", "cuMemCreate",
                                      "cuGetProcAddress", "cuGetProcAddress_v2", "cudaMalloc", "mtiaMalloc"}) {
    if (file.bytes().find(std::string{'\0'}.append(name).append(1, '\0')) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

ProcessFacts read_process_facts(std::uint64_t pid, const fs::path& proc) {
  const fs::path process = proc / std::to_string(pid);
  ProcessFacts facts;
  facts.pid = pid;
  struct stat found {};
  facts.exists = stat(process.c_str(), &found) == 0;
  if (!facts.exists) {
    return facts;
  }
  facts.own_pid = own_pid_of(process);
  facts.uid = found.st_uid;
  facts.is_viewer_root = geteuid() == 0;
  facts.is_zombie = is_zombie(process);
  read_maps(process, facts);
  std::error_code error;
  facts.executable = fs::read_symlink(process / "exe", error).string();
  facts.environment = environment_of(process);
  facts.is_secure = is_secure(process);
  facts.has_other_root = has_other_root(process);
  const MappedFile program((process / "exe").string());
  if (const std::optional<ElfFacts> elf = elf_facts(program.bytes())) {
    facts.is_other_machine = !elf->same_machine;
    facts.is_static = elf->same_machine && !elf->has_interpreter;
  }
  for (const std::string& part : preload_parts(value_of(facts.environment, "LD_PRELOAD"))) {
    const std::string seen = (process / "root").string() + part;
    const bool is_path = part.starts_with('/');
    facts.preloads.push_back({.path = part,
                              .is_ours = base_name(part) == "libtidemark.so",
                              .exists = !is_path || fs::exists(seen, error),
                              .has_our_names = is_path && has_our_names(seen)});
  }
  const std::string_view chosen = value_of(facts.environment, "TIDEMARK_DIR");
  facts.directory = chosen.empty() ? std::string{segment::kDefaultDirectory} : std::string{chosen};
  facts.directory_trouble = trouble_in(facts.directory, process / "root", static_cast<uid_t>(facts.uid));
  return facts;
}

}  // namespace tidemark::viewer
