// What became of requests, as text line by line or as one JSON document at the end, and the exit code of it all.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/model/act.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tidemark::viewer {

// One line about a device for which it was done: "peak 3.210 GiB -> 1.000 GiB (allocated now)".
using Sentence = std::function<std::string(const Figures& before, const Figures& after)>;

class ActingReport {
 public:
  explicit ActingReport(bool json) : json_(json) {}

  void add(const ProcessOutcome& outcome, const Sentence& sentence);
  void add_failure(const Failure& failure);

  // Prints the document with --json. Done only if all was done; else the first failure's code.
  [[nodiscard]] ExitCode finish() const;

 private:
  void note(ExitCode code) { code_ = code_ == ExitCode::Done ? code : code_; }

  bool json_;
  ExitCode code_ = ExitCode::Done;
  std::vector<DeviceOutcome> outcomes_;
};

}  // namespace tidemark::viewer
