// A process's recording, switched on for as long as this lives where it was off: the former setting comes back on every
// way out but kill -9. Others may stop it meanwhile, or begin another: that one is theirs and goes on.
#pragma once

#include "viewer/model/asker.hpp"
#include "viewer/model/view.hpp"

#include "shared/history/history.hpp"

#include <cstdint>
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
  // Why a snapshot with this recording is not of the one that there was at the beginning; empty: it is.
  [[nodiscard]] std::string what_became_of_it(const history::Recording& now) const;
  [[nodiscard]] const std::string& detail() const { return detail_; }  // of the process's answer; empty: nothing to add

 private:
  const ProcessView& process_;
  std::optional<std::uint64_t> since_ns_{};  // names the recording: no two of a process begin at one moment
  bool was_on_ = false;
  bool is_ours_ = false;
  std::string detail_;
};

}  // namespace tidemark::viewer
