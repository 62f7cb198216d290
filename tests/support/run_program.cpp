#include "tests/support/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

namespace tidemark::test {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::vector<std::string> environment_of(const Launch& launch) {
  std::map<std::string, std::string> all = {
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOME", "/tmp"}, {"LANG", "C"}};
  for (const auto& [name, value] : launch.environment) all[name] = value;
  std::string preload;
  for (const std::string& library : launch.preload) preload += (preload.empty() ? "" : " ") + library;
  if (!preload.empty()) all["LD_PRELOAD"] = preload;
  std::vector<std::string> lines;
  for (const auto& [name, value] : all) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// True when `fd` can be read (or has ended) before the limit.
bool wait_readable(int fd, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&entry, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) fail("poll");
  }
}

}  // namespace

std::string describe(const Outcome& outcome) {
  std::string text = outcome.timed_out ? "killed after the time limit"
                     : outcome.signal  ? "ended by signal " + std::to_string(outcome.signal)
                                       : "exit code " + std::to_string(outcome.exit_code);
  return text + "\n-- stdout:\n" + outcome.out + "-- stderr:\n" + outcome.err;
}

ScratchFile::ScratchFile(const std::string& text) : fd_(memfd_create("test", MFD_CLOEXEC)) {
  if (fd_ < 0) fail("memfd_create");
  if (write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("write");
  lseek(fd_, 0, SEEK_SET);
}

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) close(fd_);
}

std::string ScratchFile::text() const {
  std::string text;
  char part[4096];
  ssize_t got = 0;
  while ((got = pread(fd_, part, sizeof part, static_cast<off_t>(text.size()))) > 0) {
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

Process::Process(const Launch& launch, int in, int out, int err) {
  // Everything the child needs is made before the fork: after it only async-signal-safe calls.
  std::vector<std::string> words = launch.command;
  std::vector<std::string> variables = environment_of(launch);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool usable = getppid() == parent && dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 &&
                        (launch.directory.empty() || chdir(launch.directory.c_str()) == 0);
    if (usable) execvpe(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) fail("pidfd_open");
}

Process::~Process() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pidfd_);
}

void Process::signal(int number) const {
  if (!reaped_) kill(pid_, number);
}

bool Process::has_ended() const { return reaped_ || wait_readable(pidfd_, std::chrono::milliseconds{0}); }

Outcome Process::wait(std::chrono::milliseconds limit) {
  Outcome outcome;
  if (!wait_readable(pidfd_, limit)) {
    outcome.timed_out = true;
    kill(pid_, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  reaped_ = true;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

Outcome run(const Launch& launch, std::chrono::milliseconds limit) {
  const ScratchFile in{launch.input};
  const ScratchFile out;
  const ScratchFile err;
  Process process{launch, in.fd(), out.fd(), err.fd()};
  Outcome outcome = process.wait(limit);
  outcome.out = out.text();
  outcome.err = err.text();
  return outcome;
}

Conversation::Conversation(const Launch& launch) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0) fail("pipe2");
  if (pipe2(output, O_CLOEXEC) != 0) fail("pipe2");
  to_ = input[1];
  from_ = output[0];
  // A program that died is found by its missing answer, not by a signal to the test.
  ::signal(SIGPIPE, SIG_IGN);
  process_ = std::make_unique<Process>(launch, input[0], output[1], err_.fd());
  close(input[0]);
  close(output[1]);
}

Conversation::~Conversation() {
  if (to_ >= 0) close(to_);
  close(from_);
}

std::string Conversation::read_line() {
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    char part[4096];
    if (!wait_readable(from_, kProgramLimit)) break;
    const ssize_t got = read(from_, part, sizeof part);
    if (got <= 0) break;
    unread_.append(part, static_cast<std::size_t>(got));
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

void Conversation::write_line(const std::string& line) {
  const std::string text = line + "\n";
  if (write(to_, text.data(), text.size()) < 0 && errno != EPIPE) fail("write");
}

std::string Conversation::ask(const std::string& line) {
  write_line(line);
  return read_line();
}

Outcome Conversation::finish() {
  if (to_ >= 0) close(to_);
  to_ = -1;
  return wait();
}

Outcome Conversation::end_by(int number) {
  signal(number);
  return wait();
}

Outcome Conversation::wait() {
  Outcome outcome = process_->wait();
  outcome.err = err_.text();
  for (std::string line; !(line = read_line()).empty();) outcome.out += line + "\n";
  return outcome;
}

}  // namespace tidemark::test
