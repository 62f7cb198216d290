// What the tests of shared/ need around them: a directory of their own, child processes that cannot outlive the test,
// and a bell between processes.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "shared/base/device_basis.hpp"
#include "shared/segment/process_words.hpp"
#include "shared/segment/writer.hpp"

namespace tidemark::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tidemark-test.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), pattern);
    }
    path_ = pattern;
    // Tests that become another user have to come in.
    ::chmod(path_.c_str(), 0777);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{path_}) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::string path_;
};

// A forked child that runs `body` and leaves with its result. Killed with the test at the latest.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(::fork()) {
    if (pid_ < 0) {
      throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(body());
    }
  }
  ~Child() {
    if (pid_ > 0) {
      send(SIGKILL);
      wait();
    }
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(int signal) const { ::kill(pid_, signal); }
  // Exit code, or minus the signal that ended it.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Returns when the child has been stopped by a signal.
  void wait_until_stopped() const {
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
  }

 private:
  pid_t pid_;
};

// Rung in one process, heard in another; made before the fork. A ringer that dies is heard as false.
class Bell {
 public:
  Bell() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
  }
  ~Bell() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) {
      ::close(ends_[1]);
    }
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() const { static_cast<void>(!::write(ends_[1], "!", 1)); }
  [[nodiscard]] bool wait() {
    if (ends_[1] >= 0) {
      ::close(std::exchange(ends_[1], -1));  // the listener's own end would hide the ringer's death
    }
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1;
  }

 private:
  int ends_[2] = {-1, -1};
};

inline std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline segment::DeviceInfo sample_device(std::uint32_t ordinal = 0) {
  segment::DeviceInfo info;
  info.backend = segment::Backend::Mtia;
  info.ordinal = ordinal;
  for (std::size_t i = 0; i < info.uuid.size(); ++i) {
    info.uuid[i] = static_cast<std::uint8_t>(0xA0 + i + ordinal);
  }
  info.name = "MTIA (simulated)";
  info.pci_bus_id = "0000:65:00.0";
  info.capacity_bytes = std::uint64_t{8} << 30;
  info.simulated = true;
  return info;
}

// Every word another value.
inline DeviceBasis sample_basis(std::uint64_t factor = 1) {
  DeviceBasis basis;
  for (std::size_t i = 0; i < kBasisWords; ++i) {
    basis.words[i] = factor * (1000 + i);
  }
  return basis;
}

inline segment::WriterOptions options_in(const TemporaryDirectory& directory) {
  segment::WriterOptions options;
  options.directory = directory.path().c_str();
  return options;
}

// Where this process has a file mapped, by /proc/self/maps; nullptr where it hasn't.
inline std::byte* mapping_of(const std::string& path) {
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path)) {
      return reinterpret_cast<std::byte*>(std::stoull(line, nullptr, 16));
    }
  }
  return nullptr;
}

inline bool is_root() { return ::geteuid() == 0; }

// An ordinary user, for good. Only in a child.
inline bool become_nobody() {
  constexpr uid_t kNobody = 65534;
  return ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
}

}  // namespace tidemark::test
