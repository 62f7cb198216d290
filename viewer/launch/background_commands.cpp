#include "viewer/launch/background_commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string_view>

namespace tidemark::viewer {
namespace {

// Ours, where the new ones don't say otherwise.
std::vector<std::string> environment_with(const BackgroundCommands::Variables& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const bool is_replaced = std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
      return text.substr(0, text.find('=')) == variable.first;
    });
    if (!is_replaced) {
      all.emplace_back(text);
    }
  }
  for (const auto& [name, value] : variables) {
    all.push_back(name + "=" + value);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  std::transform(texts.begin(), texts.end(), std::back_inserter(pointers),
                 [](std::string& text) { return text.data(); });
  pointers.push_back(nullptr);
  return pointers;
}

std::string how_it_failed(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was ended by signal {}", WTERMSIG(status));
  }
  return fmt::format("ended with {}", WEXITSTATUS(status));
}

}  // namespace

int BackgroundCommands::start(const Variables& variables) {
  std::vector<std::string> words{"/bin/sh", "-c", command_};
  std::vector<std::string> environment = environment_with(variables);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int failure = ::posix_spawn(&pid, words[0].c_str(), &files, &attributes, pointers_to(words).data(),
                                    pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failure == 0) {
    running_.push_back(pid);
  }
  return failure;
}

std::vector<std::string> BackgroundCommands::look_after() {
  std::vector<std::string> failures;
  std::erase_if(running_, [&](pid_t pid) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid && status != 0) {
      failures.push_back(fmt::format("'{}' {}", command_, how_it_failed(status)));
    }
    return ended == pid || (ended < 0 && errno == ECHILD);
  });
  while (!waiting_.empty() && running_.size() < kMost) {
    if (const int failure = start(waiting_.front()); failure != 0) {
      failures.push_back(
          fmt::format("cannot start /bin/sh ({}); tried again at the next look", std::strerror(failure)));
      break;
    }
    waiting_.pop_front();
  }
  return failures;
}

}  // namespace tidemark::viewer
