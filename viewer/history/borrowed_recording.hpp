// A process's recording, switched on for as long as this lives where it was off: the former setting comes back on every
// way out but kill -9.
#pragma once

#include "viewer/model/asker.hpp"
#include "viewer/model/view.hpp"

#include <optional>
#include <string>

namespace tidemark::viewer {

class BorrowedRecording {
 public:
  // Requires: process.reader. Throws Failure where it is off and cannot be switched on.
  explicit BorrowedRecording(const ProcessView& process);
  BorrowedRecording(const BorrowedRecording&) = delete;
  BorrowedRecording& operator=(const BorrowedRecording&) = delete;
  ~BorrowedRecording();

  // Before the object's end, for who wants to say that it failed: one line, or none.
  [[nodiscard]] std::optional<std::string> give_back();

  [[nodiscard]] bool was_on() const { return was_on_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }  // of the process's answer; empty: nothing to add

 private:
  const ProcessView& process_;
  bool was_on_ = false;
  bool is_ours_ = false;
  std::string detail_;
};

}  // namespace tidemark::viewer
