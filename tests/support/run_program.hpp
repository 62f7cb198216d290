// Runs a program to its end, or keeps it company while it runs, and tells what came out.
//
// Programs get a small environment of their own (PATH, HOME, LANG=C and what the launch names), so that a test sees the
// same on every machine. Each is ended by its own pid: at the end of a test's object, and by the kernel when the test
// itself dies. Every wait has a limit, which only a hanging program reaches; it is then killed and the outcome says so.
// Not for several threads at once. Throws std::system_error where the machine refuses (no processes, no files).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace tidemark::test {

inline constexpr std::chrono::seconds kProgramLimit{60};

struct Launch {
  std::vector<std::string> command{};  // the first is looked up in PATH
  std::map<std::string, std::string> environment{};
  std::vector<std::string> preload{};  // LD_PRELOAD, in this order
  std::string input{};                 // all that stdin holds (run() alone)
  std::string directory{};             // working directory; empty: the test's
};

struct Outcome {
  int exit_code = -1;  // -1: ended by `signal`
  int signal = 0;
  bool timed_out = false;
  std::string out{};
  std::string err{};

  // What a native run and one under the shim have in common if the shim harmed nothing.
  bool operator==(const Outcome&) const = default;
};

// For messages of failed tests.
std::string describe(const Outcome& outcome);
inline void PrintTo(const Outcome& outcome, std::ostream* to) { *to << describe(outcome); }

// An open file without a name that holds `text`, rewound.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& text = "");
  ScratchFile(ScratchFile&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::string text() const;

 private:
  int fd_;
};

// A child process. Killed and reaped with the object, if it still runs.
class Process {
 public:
  // The three files become its stdin, stdout and stderr.
  Process(const Launch& launch, int in, int out, int err);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Waits for its end; fills the first three fields of an outcome.
  Outcome wait(std::chrono::milliseconds limit = kProgramLimit);
  // True once it has ended; doesn't wait and doesn't reap.
  [[nodiscard]] bool has_ended() const;

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  bool reaped_ = false;
};

Outcome run(const Launch& launch, std::chrono::milliseconds limit = kProgramLimit);

// A program that answers each line on its stdin with one line on its stdout.
class Conversation {
 public:
  explicit Conversation(const Launch& launch);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation();

  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  // The next line without its newline; empty at the end of its output.
  std::string read_line();
  void write_line(const std::string& line);
  std::string ask(const std::string& line);
  [[nodiscard]] std::string err() const { return err_.text(); }
  void signal(int number) const { process_->signal(number); }

  // Closes its stdin and waits for its end; `out` is what no read_line() has taken.
  Outcome finish();
  // Sends the signal and waits for the end.
  Outcome end_by(int number);

 private:
  Outcome wait();

  ScratchFile err_;
  int to_ = -1;
  int from_ = -1;
  std::string unread_;
  std::unique_ptr<Process> process_;
};

}  // namespace tidemark::test
