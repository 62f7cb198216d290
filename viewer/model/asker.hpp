// Asks one process through its control file, and says in the words of every command what became of it.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/model/view.hpp"

#include "shared/control/client.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tidemark::viewer {

struct Verdict {
  ExitCode code = ExitCode::Done;
  std::string status;  // done, deferred, refused, timeout, gone
  std::string detail;  // empty: nothing to add
};

struct Reply {
  Verdict verdict;
  std::array<std::uint64_t, segment::kAckResults> results{};  // all 0 unless done
};

// Holds one of the process's control slots from the first request to the end of the object.
class Asker {
 public:
  // Requires: process.reader, or a dead process.
  explicit Asker(const ProcessView& process);

  // `timeout` is for a place among the viewers of the process and for its answer together.
  [[nodiscard]] Reply ask(const control::Order& order, std::chrono::milliseconds timeout);

  // Requires: it was asked something, and has answered.
  [[nodiscard]] std::uint32_t slot() const { return client_->slot(); }

 private:
  [[nodiscard]] std::optional<Verdict> open(std::chrono::milliseconds patience);  // why not

  segment::ProcessState state_;
  segment::ControlPolicy policy_;
  std::shared_ptr<const segment::SegmentReader> reader_;
  std::optional<control::ControlClient> client_;  // goes before its reader
};

}  // namespace tidemark::viewer
