#include "viewer/launch/preflight.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/launch/elf_facts.hpp"
#include "viewer/launch/mapped_file.hpp"
#include "viewer/launch/preload_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr int kMostInterpreters = 5;  // the kernel's own limit of scripts that run scripts

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_file(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// Does the kernel set AT_SECURE, so that the loader ignores LD_PRELOAD?
std::string privilege_reason(const std::string& path) {
  struct stat found {};
  struct statvfs mount {};
  if (stat(path.c_str(), &found) != 0 || (statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0)) {
    return {};
  }
  if ((found.st_mode & S_ISUID) != 0 && found.st_uid != geteuid()) {
    return fmt::format("{} is setuid, and the loader ignores LD_PRELOAD there", path);
  }
  if ((found.st_mode & S_ISGID) != 0 && (found.st_mode & S_IXGRP) != 0 && found.st_gid != getegid()) {
    return fmt::format("{} is setgid, and the loader ignores LD_PRELOAD there", path);
  }
  if (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return fmt::format("{} has file capabilities, and the loader ignores LD_PRELOAD there", path);
  }
  return {};
}

std::string elf_reason(const std::string& path, const ElfFacts& facts) {
  if (!facts.same_machine) {
    return fmt::format("{} is built for another machine or word size than libtidemark.so", path);
  }
  if (!facts.has_interpreter) {
    return fmt::format("{} is statically linked, so no loader runs that could preload anything", path);
  }
  return {};
}

// The program behind an interpreter line; through /usr/bin/env to what env will start.
std::string interpreter_program(const std::vector<std::string>& line, std::string_view path_variable) {
  if (base_name(line.front()) == "env") {
    for (std::size_t i = 1; i < line.size(); ++i) {
      const std::string& word = line[i];
      if (!word.starts_with('-') && word.find('=') == std::string::npos) {
        try {
          return resolve_program(word, path_variable);
        } catch (const Failure&) {
          return {};
        }
      }
    }
  }
  return line.front();
}

struct Launcher {
  std::string_view names;  // between blanks
  std::string_view why;
};

constexpr std::array<Launcher, 4> kLaunchers{{
    {" sudo doas su pkexec runuser ", "drops LD_PRELOAD; put it in front instead: {0} ... tidemark run -- CMD"},
    {" docker podman nerdctl kubectl ",
     "starts the program in a container, which does not get this environment; "
     "install Tidemark there and use tidemark run inside"},
    {" ssh mosh rsh ", "starts the program on another machine; use tidemark run there"},
    {" systemd-run systemctl at batch ",
     "starts the program from a service, which does not get this environment; use "
     "tidemark run inside its command line"},
}};

}  // namespace

std::string resolve_program(const std::string& name, std::string_view path_variable) {
  if (name.empty()) {
    throw Failure(ExitCode::NoSuchProgram, "run: the program's name is empty");
  }
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), F_OK) != 0) {
      throw Failure(errno == EACCES ? ExitCode::NotExecutable : ExitCode::NoSuchProgram,
                    fmt::format("run: {}: {}", name, std::strerror(errno)));
    }
    if (!is_file(name)) {
      throw Failure(ExitCode::NotExecutable, fmt::format("run: {} is not a file", name));
    }
    if (access(name.c_str(), X_OK) != 0) {
      throw Failure(ExitCode::NotExecutable, fmt::format("run: {} is not executable; chmod +x it?", name));
    }
    return name;
  }
  std::string not_executable;
  for (bool more = true; more;) {
    const std::size_t end = path_variable.find(':');
    const std::string_view directory = path_variable.substr(0, end);
    more = end != std::string_view::npos;
    path_variable.remove_prefix(more ? end + 1 : path_variable.size());
    std::string candidate = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
    if (is_file(candidate)) {
      if (access(candidate.c_str(), X_OK) == 0) {
        return candidate;
      }
      not_executable = std::move(candidate);
    }
  }
  if (!not_executable.empty()) {
    throw Failure(ExitCode::NotExecutable, fmt::format("run: {} is not executable; chmod +x it?", not_executable));
  }
  const std::string hint = is_file(name) ? fmt::format("; did you mean ./{}?", name) : "";
  throw Failure(ExitCode::NoSuchProgram, fmt::format("run: no program '{}' in PATH{}", name, hint));
}

std::vector<std::string> interpreter_line(std::string_view bytes) {
  std::vector<std::string> words;
  if (!bytes.starts_with("#!")) {
    return words;
  }
  std::string_view line = bytes.substr(2, bytes.find('\n') == std::string_view::npos ? 256 : bytes.find('\n') - 2);
  for (;;) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string explain_launcher(std::string_view program) {
  const std::string_view base = base_name(program);
  for (const Launcher& launcher : kLaunchers) {
    if (launcher.names.find(fmt::format(" {} ", base)) != std::string_view::npos) {
      return fmt::format("{} {}", base, fmt::format(fmt::runtime(launcher.why), base));
    }
  }
  return {};
}

Preflight preflight(const std::vector<std::string>& words, const std::string& path, std::string_view path_variable) {
  Preflight found;
  if (std::string reason = explain_launcher(words.front()); !reason.empty()) {
    found.reasons.push_back(std::move(reason));
    return found;
  }
  std::string file = path;
  for (int depth = 0; depth < kMostInterpreters && !file.empty(); ++depth) {
    const MappedFile mapped(file);
    const std::string_view bytes = mapped.bytes();
    const std::vector<std::string> line = interpreter_line(bytes);
    if (!line.empty()) {
      file = interpreter_program(line, path_variable);  // set-id bits of scripts are ignored by the kernel
      if (!is_file(file)) {
        found.missing_interpreter = file.empty() ? line.back() : file;
        break;
      }
      continue;
    }
    std::string reason = privilege_reason(file);
    found.program = file;
    found.facts = elf_facts(bytes);
    if (const std::optional<ElfFacts>& facts = found.facts) {
      reason = reason.empty() ? elf_reason(file, *facts) : reason;
      for (const std::string& needed : facts->needed) {
        if (is_sanitizer_runtime(needed)) {
          found.sanitizers.push_back(needed);
        }
      }
    }
    if (!reason.empty()) {
      found.reasons.push_back(file == path ? reason : fmt::format("{} is a script of {}: {}", path, file, reason));
    }
    break;
  }
  return found;
}

}  // namespace tidemark::viewer
