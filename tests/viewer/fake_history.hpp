// How a fake process answers what is asked about its history: with files that the test has laid ready.
//
//   PREFIX.N.tmsnap   the copy that the Nth request for a snapshot gets (from 1); without it the request is refused
//   PREFIX.hist       appears as the segment's history with `record start`, goes with `record stop`
//   PREFIX.log        one line for each request: "record start 1 3 0"
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "shared/control/host.hpp"

namespace tidemark::test {

class FakeHistory {
 public:
  FakeHistory(std::string prefix, std::string segment_path)
      : prefix_(std::move(prefix)), segment_path_(std::move(segment_path)) {}

  // None: the request isn't about a history, or this process has none.
  std::optional<control::Answer> handle(const control::Request& request) {
    using control::Operation;
    const bool is_mine = request.operation == Operation::RecordStart || request.operation == Operation::RecordStop ||
                         request.operation == Operation::Snapshot;
    if (prefix_.empty() || !is_mine) {
      return std::nullopt;
    }
    std::ofstream(prefix_ + ".log", std::ios::app)
        << control::to_text(request.operation) << ' ' << request.arguments[0] << ' ' << request.arguments[1] << ' '
        << request.arguments[2] << '\n';
    std::error_code failed;
    if (request.operation == Operation::RecordStart) {
      std::filesystem::copy_file(prefix_ + ".hist", segment_path_ + ".hist", failed);
    } else if (request.operation == Operation::RecordStop) {
      std::filesystem::remove(segment_path_ + ".hist", failed);
    } else {
      std::filesystem::copy_file(prefix_ + "." + std::to_string(++snapshots_) + ".tmsnap",
                                 segment_path_ + ".snap." + std::to_string(request.slot), failed);
    }
    control::Answer answer{
        .status = failed ? segment::AckStatus::Failed : segment::AckStatus::Done, .detail = {}, .results = {}};
    answer.detail = failed ? "there is no such file" : "";
    return answer;
  }

 private:
  std::string prefix_;
  std::string segment_path_;
  int snapshots_ = 0;
};

}  // namespace tidemark::test
