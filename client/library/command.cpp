#include "client/library/command.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "client/library/failure.hpp"
#include "shared/segment/file_handle.hpp"

namespace tidemark::client {
namespace {

using segment::FileHandle;

// Beside this library, as a build has it (lib/, bin/) and an installation (lib/, lib/TRIPLE/); else whatever PATH has.
std::string find_command() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(&find_command), &where) != 0 && where.dli_fname != nullptr) {
    const std::string path{where.dli_fname};
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const char* way : {"../bin/tidemark", "../../bin/tidemark"}) {
      if (std::string candidate = folder + way; access(candidate.c_str(), X_OK) == 0) {
        return candidate;
      }
    }
  }
  return "tidemark";
}

std::vector<char*> environment_without_preload() {
  std::vector<char*> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!std::string_view{*entry}.starts_with("LD_PRELOAD=")) {
      kept.push_back(*entry);
    }
  }
  kept.push_back(nullptr);
  return kept;
}

// Its first line, and no more than fits into a detail.
std::string read_line(int fd) {
  std::string said;
  std::array<char, 256> piece{};
  for (;;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      break;
    }
    if (got > 0 && said.size() < 400) {
      said.append(piece.data(), static_cast<std::size_t>(got));
    }
  }
  return said.substr(0, said.find('\n'));
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

void run_tidemark(const std::vector<std::string>& arguments) {
  const std::string command = find_command();
  std::vector<std::string> words{command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);

  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure("pipe", errno);
  }
  const FileHandle from{ends[0]};
  FileHandle to{ends[1]};
  FileActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), to.get(), STDERR_FILENO);

  pid_t pid = -1;
  std::vector<char*> environment = environment_without_preload();
  if (const int code = posix_spawnp(&pid, command.c_str(), actions.get(), nullptr, argv.data(), environment.data());
      code != 0) {
    throw Failure(TIDEMARK_ERROR_NO_COMMAND, "the command 'tidemark' is needed for that and cannot be started (" +
                                                 std::string{std::strerror(code)} +
                                                 "); install it beside this library or put it into PATH");
  }
  to = FileHandle{};  // so that the child's end is the pipe's
  const std::string said = read_line(from.get());
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  // Reaped by somebody else (a handler of SIGCHLD, or SIGCHLD ignored): what it said is all there is to know.
  const bool is_done = ended == pid ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : !said.starts_with("tidemark: ");
  if (!is_done) {
    throw Failure(TIDEMARK_ERROR_NO_COMMAND, said.empty() ? command + " failed" : said);
  }
}

}  // namespace tidemark::client
