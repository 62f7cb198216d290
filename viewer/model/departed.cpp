#include "viewer/model/departed.hpp"

#include "viewer/model/collect.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tidemark::viewer {
namespace {

std::pair<std::uint64_t, std::uint64_t> age_of(const ProcessView& process) {
  return {process.snapshot.identity.create_realtime_ns, process.snapshot.identity.nonce};
}

// It marks its segment before it takes the name away; where only the name is missing, somebody else did that.
bool is_leaving(const ProcessView& process) {
  return !process.is_alive() || process.snapshot.globals.exit_realtime_ns != 0;
}

}  // namespace

void Departed::find_leavers(const View& view, const View& before) {
  std::unordered_set<const segment::SegmentReader*> found;
  for (const ProcessView& process : view.processes) {
    found.insert(process.reader.get());
  }
  for (const ProcessView& process : before.processes) {
    if (process.reader == nullptr || !process.is_alive() || found.contains(process.reader.get())) {
      continue;
    }
    if (ProcessView last = look_again(process); is_leaving(last)) {
      leavers_.push_back({.process = std::move(last), .until = std::nullopt});
    }
  }
}

void Departed::add_to(View& view, const View& before, Time now, const std::string& kept) {
  find_leavers(view, before);
  for (Leaver& leaver : leavers_) {
    if (!leaver.until) {
      leaver.process = look_again(leaver.process);
      leaver.until = leaver.process.is_alive() ? std::nullopt : std::optional{now + kKept};
    }
  }
  std::erase_if(leavers_, [&](const Leaver& leaver) {
    return leaver.until && *leaver.until <= now && leaver.process.id() != kept;
  });
  for (const Leaver& leaver : leavers_) {
    const auto younger = std::find_if(view.processes.begin(), view.processes.end(), [&](const ProcessView& process) {
      return age_of(process) > age_of(leaver.process);
    });
    view.processes.insert(younger, leaver.process);
  }
}

}  // namespace tidemark::viewer
