#include "viewer/history/borrowed_recording.hpp"

#include <fmt/format.h>

#include <chrono>

#include "shared/history/reader.hpp"
#include "viewer/exit_code.hpp"

namespace tidemark::viewer {
namespace {

// All space of a history is taken at once.
constexpr std::chrono::seconds kPatience{10};

// When the recording began that there is now; none: there is none, or it can't be read.
std::optional<std::uint64_t> since_of(const ProcessView& process) {
  const auto reader = history::HistoryReader::beside(*process.reader);
  return reader ? std::optional{reader.value().recording().since_ns} : std::nullopt;
}

}  // namespace

BorrowedRecording::BorrowedRecording(const ProcessView& process) : process_(process) {
  since_ns_ = since_of(process);
  was_on_ = since_ns_.has_value();
  if (was_on_) {
    return;
  }
  const control::Order order{.operation = control::Operation::RecordStart,
                             .arguments = {static_cast<std::uint64_t>(history::Enabled::State),
                                           static_cast<std::uint64_t>(history::Stacks::All), 0}};
  const Verdict verdict = Asker{process}.ask(order, kPatience).verdict;
  if (verdict.status != "done") {
    throw Failure(verdict.code, fmt::format("process {} cannot be made to record: {}", process.pid(),
                                            verdict.detail.empty() ? verdict.status : verdict.detail));
  }
  since_ns_ = since_of(process);
  is_ours_ = true;
  detail_ = verdict.detail;
}

std::optional<std::string> BorrowedRecording::give_back() {
  if (!is_ours_) {
    return std::nullopt;
  }
  is_ours_ = false;
  if (since_of(process_) != since_ns_) {
    return std::nullopt;  // stopped already, or somebody else's
  }
  const Verdict verdict = Asker{process_}.ask({.operation = control::Operation::RecordStop}, kPatience).verdict;
  if (verdict.status == "done" || verdict.status == "gone") {
    return std::nullopt;
  }
  return fmt::format("process {} still records ({}); to end that: tidemark record stop {}", process_.pid(),
                     verdict.detail.empty() ? verdict.status : verdict.detail, process_.pid());
}

std::string BorrowedRecording::what_became_of_it(const history::Recording& now) const {
  if (now.enabled == history::Enabled::Off) {
    return "was stopped";
  }
  return !since_ns_ || now.since_ns == *since_ns_ ? "" : "was begun anew";
}

BorrowedRecording::~BorrowedRecording() {
  try {
    static_cast<void>(give_back());
  } catch (const std::exception&) {
    // Whatever is on its way says more.
  }
}

}  // namespace tidemark::viewer
