#include "viewer/history/borrowed_recording.hpp"

#include <fmt/format.h>

#include <chrono>

#include "shared/history/reader.hpp"
#include "viewer/exit_code.hpp"

namespace tidemark::viewer {
namespace {

// All space of a history is taken at once.
constexpr std::chrono::seconds kPatience{10};

}  // namespace

BorrowedRecording::BorrowedRecording(const ProcessView& process) : process_(process) {
  was_on_ = history::HistoryReader::beside(*process.reader).ok();
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
  is_ours_ = true;
  detail_ = verdict.detail;
}

std::optional<std::string> BorrowedRecording::give_back() {
  if (!is_ours_) {
    return std::nullopt;
  }
  is_ours_ = false;
  const Verdict verdict = Asker{process_}.ask({.operation = control::Operation::RecordStop}, kPatience).verdict;
  if (verdict.status == "done" || verdict.status == "gone") {
    return std::nullopt;
  }
  return fmt::format("process {} still records ({}); to end that: tidemark record stop {}", process_.pid(),
                     verdict.detail.empty() ? verdict.status : verdict.detail, process_.pid());
}

BorrowedRecording::~BorrowedRecording() {
  try {
    static_cast<void>(give_back());
  } catch (const std::exception&) {
    // Whatever is on its way says more.
  }
}

}  // namespace tidemark::viewer
