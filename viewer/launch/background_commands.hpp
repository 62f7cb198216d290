// Commands of the shell that run beside us, a few at a time; the others wait for their turn.
#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::viewer {

class BackgroundCommands {
 public:
  static constexpr std::size_t kMost = 8;  // at a time

  using Variables = std::vector<std::pair<std::string, std::string>>;

  explicit BackgroundCommands(std::string command) : command_(std::move(command)) {}
  BackgroundCommands(const BackgroundCommands&) = delete;
  BackgroundCommands& operator=(const BackgroundCommands&) = delete;

  // To be run by /bin/sh -c with these variables besides ours, its standard input empty, signals as they are by
  // default, in a process group of its own (Ctrl-C is for us).
  void add(Variables variables) { waiting_.push_back(std::move(variables)); }

  // Takes note of what has ended, and starts what waits, if there is room; what can't be started now waits on. Says
  // what failed, one line each.
  [[nodiscard]] std::vector<std::string> look_after();

  [[nodiscard]] bool is_idle() const { return running_.empty() && waiting_.empty(); }

 private:
  // 0, or why not (errno).
  [[nodiscard]] int start(const Variables& variables);

  const std::string command_;
  std::vector<pid_t> running_;
  std::deque<Variables> waiting_;
};

}  // namespace tidemark::viewer
