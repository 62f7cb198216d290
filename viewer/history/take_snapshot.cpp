#include "viewer/history/take_snapshot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include "shared/history/reader.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/own_identity.hpp"
#include "viewer/exit_code.hpp"
#include "viewer/history/load_history.hpp"
#include "viewer/history/oom_snapshots.hpp"
#include "viewer/history/symbol_names.hpp"
#include "viewer/model/asker.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/number_text.hpp"

namespace tidemark::viewer {
namespace {

// Large tables are copied and written.
constexpr std::chrono::seconds kPatience{30};

std::string settings_of(ProcessView process) {
  read_details(process);
  for (const segment::Setting& setting : process.settings) {
    if (setting.name == "alloc_conf") {
      return std::string{setting.value};
    }
  }
  return {};
}

SnapshotSource source_of(const ProcessView& process) {
  return {
      .id = process.id(), .title = process.title(), .settings = settings_of(process), .has_ended = !process.is_alive()};
}

TakenSnapshot named(const ProcessView& process, history::History history) {
  // The viewer's number for it, not the one in its own pid namespace.
  history.recording.pid = process.pid();
  SymbolNames names{history, process.is_alive() ? process.snapshot.pid : 0};
  TakenSnapshot taken{.snapshot = snapshot_of(std::move(history), names, source_of(process))};
  taken.notes = names.notes();
  return taken;
}

// The copy that the process made for us. Ours to remove, whatever is in it.
std::optional<history::History> fetch(const ProcessView& process, std::uint32_t slot) {
  const std::string path = fmt::format("{}{}{}", process.reader->path(), segment::kSnapshotSuffix, slot);
  std::optional<history::History> fetched;
  if (const auto reader = history::HistoryReader::open(path)) {
    auto read = reader.value().read();
    if (read && read.value().recording.nonce == process.reader->identity().nonce) {
      fetched = std::move(read).value();
    }
  }
  ::unlink(path.c_str());
  return fetched;
}

std::optional<history::History> read_own(const ProcessView& process) {
  const auto reader = history::HistoryReader::beside(*process.reader);
  if (!reader) {
    return std::nullopt;
  }
  auto read = reader.value().read();
  return read ? std::optional{std::move(read).value()} : std::nullopt;
}

std::string said(const Verdict& verdict) { return verdict.detail.empty() ? verdict.status : verdict.detail; }

bool is_stopped(const ProcessView& process) { return process.snapshot.state == segment::ProcessState::Stopped; }

// Nobody would answer. What it was in the middle of, add_losses() tells.
TakenSnapshot take_of_stopped(const ProcessView& process) {
  auto own = read_own(process);
  if (!own) {
    throw Failure(ExitCode::NotInTime,
                  fmt::format("process {0} is stopped and can make no snapshot, and it has no history that could be "
                              "read; to let it go on: kill -CONT {0}",
                              process.pid()));
  }
  own->recording.taken_ns = segment::clock_ns(CLOCK_REALTIME);
  TakenSnapshot taken = named(process, std::move(*own));
  taken.notes.push_back(fmt::format("process {} is stopped: its history was read from outside", process.pid()));
  return taken;
}

TakenSnapshot take_of_living(const ProcessView& process) {
  Asker asker{process};
  const Verdict verdict = asker.ask({.operation = control::Operation::Snapshot, .arguments = {1}}, kPatience).verdict;
  std::string why = said(verdict);
  if (verdict.status == "done") {
    if (auto fetched = fetch(process, asker.slot())) {
      TakenSnapshot taken = named(process, std::move(*fetched));
      if (taken.snapshot.recording.enabled == history::Enabled::Off) {
        taken.notes.push_back(fmt::format(
            "process {} doesn't record: blocks, sizes and ages alone, no stacks and no events; to have them "
            "next time: tidemark record start {}",
            process.pid(), process.pid()));
      }
      return taken;
    }
    why = "what it saved cannot be read";
  }
  if (const ProcessView now = look_again(process); is_stopped(now)) {
    return take_of_stopped(now);
  }
  if (auto own = read_own(process)) {
    own->recording.taken_ns = segment::clock_ns(CLOCK_REALTIME);
    TakenSnapshot taken = named(process, std::move(*own));
    taken.notes.push_back(
        fmt::format("process {} made no copy ({}): its history was read while it went on", process.pid(), why));
    return taken;
  }
  throw Failure(
      verdict.code == ExitCode::Done ? ExitCode::Failed : verdict.code,
      fmt::format("process {} has no history that could be read, and made no snapshot ({}); to record: tidemark "
                  "record start {}",
                  process.pid(), why, process.pid()));
}

TakenSnapshot take_of_dead(const ProcessView& process) {
  auto own = read_own(process);
  if (!own) {
    const std::vector<std::string> saved = snapshots_on_oom(process);
    const std::string what_is_there =
        saved.empty() ? "start it with: tidemark run --record -- CMD"
                      : fmt::format("what it saved when memory ran out: tidemark report {}", fmt::join(saved, " or "));
    throw Failure(
        ExitCode::Failed,
        fmt::format(
            "process {} is dead ({}) and left no history: nothing was recorded when it ended; its last numbers: "
            "tidemark show {}; {}",
            process.pid(), to_text(process.snapshot.state), process.id(), what_is_there));
  }
  TakenSnapshot taken = named(process, std::move(*own));
  taken.notes.push_back(fmt::format("process {} is dead ({}): this is what its history tells up to its last event",
                                    process.pid(), to_text(process.snapshot.state)));
  return taken;
}

}  // namespace

void add_losses(TakenSnapshot& taken) {
  const history::Recording& recording = taken.snapshot.recording;
  if (recording.python_omitted > 0) {
    taken.notes.push_back(fmt::format("{} without Python frames: the thread had let go of the GIL",
                                      counted(recording.python_omitted, "stack is", "stacks are")));
  }
  for (const history::Device& device : taken.snapshot.devices) {
    if (device.is_approximate) {
      taken.notes.push_back(
          fmt::format("{}: read while it changed; blocks and events may not fit together", device_name(device.info)));
    }
    if (device.changes_lost > 0) {
      taken.notes.push_back(fmt::format("{}: {} of blocks found no place in the history", device_name(device.info),
                                        counted(device.changes_lost, "change", "changes")));
    }
    if (recording.enabled == history::Enabled::All && device.events_ever > device.events.size()) {
      taken.notes.push_back(fmt::format("{}: the history has the last {} of {}", device_name(device.info),
                                        grouped(static_cast<std::int64_t>(device.events.size())),
                                        counted(device.events_ever, "event", "events")));
    }
  }
}

TakenSnapshot take_snapshot(const ProcessView& process) {
  TakenSnapshot taken = is_stopped(process)  ? take_of_stopped(process)
                        : process.is_alive() ? take_of_living(process)
                                             : take_of_dead(process);
  add_losses(taken);
  return taken;
}

}  // namespace tidemark::viewer
