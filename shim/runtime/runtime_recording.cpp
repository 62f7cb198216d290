// Runtime: memory history from the start, and as the program itself wants it.
#include <cstring>

#include "shim/runtime/log.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

void Runtime::start_recording() noexcept {
  const history::Settings wanted{
      .enabled = options_.record == Record::State ? history::Enabled::State : history::Enabled::All,
      .stacks = options_.record_stacks,
      .max_entries = options_.record_max_entries};
  const Result<std::uint64_t> started = historian().start(wanted);
  if (!started) {
    const bool has_no_name = started.error().code == ErrorCode::Unsupported;
    const bool should_have_one = options_.segment == SegmentKind::Named;
    const bool has_no_room = started.error().code == ErrorCode::NoSpace;
    log_line(LogLevel::Error, "no memory history: %s%s",  // it was asked for
             has_no_name && should_have_one ? "there is no segment to put it beside; none could be made (TIDEMARK_DIR)"
             : has_no_name                  ? "there is no segment with a name to put it beside (TIDEMARK_SHM)"
             : has_no_room                  ? "it would take more than its share of the free space and memory; "
                                              "TIDEMARK_RECORD_MAX_ENTRIES makes it smaller"
                                            : "cannot put it beside the segment: ",
             has_no_name || has_no_room ? "" : strerror(started.error().native));
  }
}

Status Runtime::record(const history::Settings& settings) noexcept {
  const std::lock_guard lock{mutex_};
  if (is_started_) {
    const Result<std::uint64_t> started = historian().start(settings);
    return started ? Status{} : Status{started.error()};
  }
  options_.record = settings.enabled == history::Enabled::State ? Record::State : Record::All;
  options_.record_stacks = settings.stacks;
  options_.record_max_entries = settings.max_entries;
  return {};
}

void Runtime::stop_recording() noexcept {
  const std::lock_guard lock{mutex_};
  options_.record = Record::Off;
  historian().stop();
}

}  // namespace tidemark::runtime
