// What `tidemark` exits with, and the exception that carries a code and its one line up to main.
#pragma once

#include <stdexcept>
#include <string>

namespace tidemark::viewer {

// The table of the documented exit codes; scripts rely on the numbers.
enum class ExitCode : int {
  Done = 0,  // an empty list is success
  Failed = 1,
  Usage = 2,
  NotFound = 3,
  PermissionDenied = 4,
  WrongLayout = 5,
  NotInTime = 6,
  ExpectationFailed = 123,  // of `run --expect`
  CannotLaunch = 125,
  NotExecutable = 126,
  NoSuchProgram = 127,
};

// `what` is one line: what was wrong, what is allowed, what to do. main prefixes it with "tidemark: ".
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& what) : std::runtime_error(what), code_(code) {}

  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace tidemark::viewer
