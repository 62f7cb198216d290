#include "viewer/export/books.hpp"

#include "viewer/export/metric_list.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/coverage.hpp"
#include "viewer/model/own_peak.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidemark::viewer {
namespace {

// A group that has no process any more stays for a while: its counters are still asked for. Of single processes there
// are many more.
constexpr std::chrono::hours kGroupStays{1};
// Until when a reader that comes takes a group for a new one: the longest usual time between two scrapes.
constexpr std::chrono::minutes kIsNewFor{1};
constexpr std::chrono::minutes kProcessStays{5};
// What of a program's calls nothing accounts for is a list of names: read now and then, and at the end.
constexpr std::chrono::seconds kBetweenCoverages{10};
// A directory that vanishes may come again, with the dead that were counted already.
constexpr std::chrono::hours kDeadAreKnown{1};
// One that began so shortly before the first look has reached its peaks within the window.
constexpr std::uint64_t kJustBegunNs = 2'000'000'000;

const GroupKey kOther{.command = kOtherCommand, .label = {}, .id = {}, .pid = {}};

std::uint64_t nonce_of(const ProcessView& process) { return process.snapshot.identity.nonce; }

DeviceKey key_of(const DeviceView& device) {
  return {.backend = to_text(device.snapshot.info.backend), .uuid = device.uuid};
}

Peaks current_of(const DeviceView& device) {
  return {device.figures.allocated, device.figures.reserved, device.figures.held};
}

// What two looks tell of the peaks between them; not less than what was in use at either.
Peaks peaks_seen(const DeviceView& before, const DeviceView& now) {
  const PeakFigures known = peaks_between(before, now);
  const Peaks in_use = Peaks::highest(current_of(before), current_of(now));
  return Peaks::highest(in_use, {known.allocated.value_or(0), known.reserved.value_or(0), known.held.value_or(0)});
}

Peaks lifetime_of(const DeviceView& device) {
  const DeviceBasis& basis = device.snapshot.basis;
  return {basis[BasisWord::lifetime_peak_allocated_bytes], basis[BasisWord::lifetime_peak_reserved_bytes],
          basis[BasisWord::lifetime_peak_held_bytes]};
}

const DeviceView* find_slot(const ProcessView* process, std::uint32_t slot) {
  if (process == nullptr) {
    return nullptr;
  }
  const auto found = std::find_if(process->devices.begin(), process->devices.end(),
                                  [&](const DeviceView& device) { return device.snapshot.slot == slot; });
  return found == process->devices.end() ? nullptr : &*found;
}

std::uint64_t untracked_calls(const ProcessView& process) {
  std::uint64_t calls = 0;
  if (process.reader != nullptr) {
    for (const auto& function : unaccounted(process.reader->coverage().value_or(segment::CoverageList{}))) {
      calls += function.unaccounted_calls;
    }
  }
  return calls;
}

std::size_t count_of(MetricScope scope) {
  return static_cast<std::size_t>(std::count_if(kMetricList.begin(), kMetricList.end(),
                                                [&](const MetricInfo& info) { return info.scope == scope; }));
}

}  // namespace

std::size_t series_of_device() { return count_of(MetricScope::Group) - 1 + kDeviceKinds; }
std::size_t series_of_group() {
  constexpr std::size_t kWaysToExit = 2;
  return count_of(MetricScope::Programs) - 2 + kHostKinds + kWaysToExit + count_of(MetricScope::Process);
}

Books::Books(const BookOptions& options) : options_(options) {}

const GroupKey* Books::group_of(const ProcessView& process) const {
  const auto found = records_.find(nonce_of(process));
  return found == records_.end() ? nullptr : &found->second.key;
}

Books::Record& Books::record_of(const ProcessView& process) {
  const auto [place, is_new] = records_.try_emplace(nonce_of(process));
  Record& record = place->second;
  record.is_seen = true;
  if (!is_new) {
    return record;
  }
  record.key = viewer::key_of(process, options_.per_process);
  if (!groups_.contains(record.key)) {
    const std::size_t more = series_of_group() + std::max<std::size_t>(process.devices.size(), 1) * series_of_device();
    record.is_folded = series_ + more > options_.max_series;
    if (record.is_folded) {
      record.key = kOther;
    } else {
      series_ += series_of_group();
    }
  }
  const auto [group, is_new_group] = groups_.try_emplace(record.key);
  if (is_new_group) {
    group->second.since = now_;
  }
  record.group = &group->second;
  return record;
}

Books::Device& Books::device_of(Record& record, const DeviceView& view, bool is_from_start) {
  const auto [place, is_new] = record.devices.try_emplace(view.snapshot.slot);
  Device& device = place->second;
  if (!is_new) {
    return device;
  }
  const DeviceKey key = key_of(view);
  Group* group = record.group;
  if (!record.is_folded && !group->devices.contains(key)) {
    const bool has_room = series_ + series_of_device() <= options_.max_series;
    series_ += has_room ? series_of_device() : 0;
    group = has_room ? group : &groups_[kOther];
  }
  const auto [of_group, is_new_device] = group->devices.try_emplace(key);
  if (is_new_device) {
    of_group->second.since = now_;
  }
  device.group = &of_group->second;
  device.follower = is_from_start ? CounterFollower{} : CounterFollower{view.snapshot.basis};
  return device;
}

// `before` null: this is the first look at it.
void Books::follow(Record& record, const ProcessView& process, const ProcessView* before, Clock::time_point now) {
  const bool was_there = is_first_look_ && options_.is_lasting;
  const bool is_old = before == nullptr && was_there;
  const auto grow = [&](std::uint64_t& sum, std::uint64_t& known, std::uint64_t now_counted) {
    sum += is_old ? 0 : now_counted - std::min(now_counted, known);
    known = std::max(now_counted, known);
  };
  grow(record.group->foreign_frees, record.foreign_frees, process.snapshot.globals.hooks.foreign_frees);
  if (before == nullptr || !process.is_alive() || now >= record.next_coverage) {
    grow(record.group->untracked, record.untracked, untracked_calls(process));
    record.next_coverage = now + kBetweenCoverages;
  }
  record.group->last_alive = now;
  const bool began_just_now = process.started_ns() + kJustBegunNs > view_.time_ns;
  for (const DeviceView& view : process.devices) {
    const DeviceView* const earlier = find_slot(before, view.snapshot.slot);
    Device& device = device_of(record, view, !was_there);
    device.group->totals += device.follower.follow(view.snapshot.basis);
    device.group->last_oom_ns = std::max(device.group->last_oom_ns, view.snapshot.basis[BasisWord::oom_time_ns]);
    if (earlier != nullptr) {
      device.group->window.add(peaks_seen(*earlier, view), now);
    } else if (!is_first_look_ || began_just_now) {
      device.group->window.add(lifetime_of(view), now);
    } else if (process.is_alive()) {
      device.group->window.add(current_of(view), now);
    }
  }
}

void Books::finish(Record& record, const ProcessView& process) const {
  using segment::ProcessState;
  record.is_finished = true;
  if (process.snapshot.state == ProcessState::Replaced) {
    return;
  }
  std::uint64_t& ended = process.snapshot.state == ProcessState::Exited ? record.group->exited : record.group->killed;
  ++ended;
  for (const DeviceView& device : process.devices) {
    record.devices.at(device.snapshot.slot).group->held_at_exit += device.figures.allocated;
  }
}

// Those of the look before that have no file any more.
void Books::follow_departed(std::vector<ProcessView> before, Clock::time_point now) {
  for (ProcessView& process : before) {
    const auto found = records_.find(nonce_of(process));
    if (found != records_.end() && !found->second.is_seen && !found->second.is_finished && process.reader != nullptr) {
      departing_.push_back(std::move(process));
    }
  }
  for (ProcessView& process : departing_) {
    Record& record = records_.at(nonce_of(process));
    record.is_seen = true;
    ProcessView again = look_again(process);
    follow(record, again, &process, now);
    if (!again.is_alive()) {
      finish(record, again);
    }
    process = std::move(again);
  }
  std::erase_if(departing_, [](const ProcessView& process) { return !process.is_alive(); });
}

void Books::add_living(const ProcessView& process, const std::unordered_set<std::uint64_t>& unasked,
                       Clock::time_point now) {
  Record& record = records_.at(nonce_of(process));
  ++record.group->processes;
  record.group->last_alive = now;
  for (std::size_t i = 0; process.snapshot.host_kinds && i < kHostKinds; ++i) {
    const KindCount& kind = process.snapshot.host_kinds->kinds[i];
    if (kind.total_count > 0) {
      auto& sum = record.group->host_kinds[i];
      sum = sum.value_or(0) + kind.current_bytes;
    }
  }
  for (const DeviceView& view : process.devices) {
    DeviceGroup& group = *record.devices.at(view.snapshot.slot).group;
    group.now.add(process, view);
    group.unasked += std::uint64_t{unasked.contains(nonce_of(process))};
  }
}

void Books::take_process(const ProcessView& process,
                         const std::unordered_map<std::uint64_t, const ProcessView*>& earlier,
                         const std::unordered_set<std::uint64_t>& unasked, Clock::time_point now,
                         std::set<GroupKey>& folded) {
  const std::uint64_t nonce = nonce_of(process);
  const bool was_dead_before = is_first_look_ && options_.is_lasting && !process.is_alive();
  Record& record = was_dead_before ? records_[nonce] : record_of(process);
  record.is_seen = true;
  record.is_finished = record.is_finished || was_dead_before;  // without a group: there is nothing to tell
  if (record.is_finished) {
    record.known_until = now + kDeadAreKnown;
    return;
  }
  const auto known = earlier.find(nonce);
  follow(record, process, known == earlier.end() ? nullptr : known->second, now);
  if (process.is_alive()) {
    add_living(process, unasked, now);
  } else {
    finish(record, process);
    record.known_until = now + kDeadAreKnown;
  }
  if (record.is_folded && folded.insert(viewer::key_of(process, options_.per_process)).second) {
    folded_series_ += series_of_group() + process.devices.size() * series_of_device();
  }
}

void Books::take(View view, const std::unordered_set<std::uint64_t>& unasked, Clock::time_point now) {
  now_ = now;
  View before = std::exchange(view_, std::move(view));
  std::unordered_map<std::uint64_t, const ProcessView*> earlier;
  std::vector<ProcessView> departed = std::exchange(departing_, {});
  for (const std::vector<ProcessView>* processes : {&before.processes, &departed}) {
    for (const ProcessView& process : *processes) {
      earlier.emplace(nonce_of(process), &process);
    }
  }
  for (auto& [nonce, record] : records_) {
    record.is_seen = false;
  }
  for (auto& [key, group] : groups_) {
    group.processes = 0;
    group.host_kinds = {};
    for (auto& [name, device] : group.devices) {
      device.now = {};
      device.unasked = 0;
    }
  }
  folded_series_ = 0;
  std::set<GroupKey> folded;
  // Where room is scarce it is for those who live.
  for (const bool is_turn_of_the_living : {true, false}) {
    for (const ProcessView& process : view_.processes) {
      if (process.is_alive() == is_turn_of_the_living) {
        take_process(process, earlier, unasked, now, folded);
      }
    }
  }
  std::move(departed.begin(), departed.end(), std::back_inserter(before.processes));
  follow_departed(std::move(before.processes), now);
  note_errors();
  forget(now);
  is_first_look_ = false;
  if (!options_.is_lasting) {
    mark_shown(kAllReaders);
  }
}

void Books::add_peaks(std::uint64_t nonce, std::uint32_t slot, const Peaks& peaks, Clock::time_point now) {
  const auto record = records_.find(nonce);
  if (record == records_.end() || record->second.is_finished) {
    return;
  }
  const auto device = record->second.devices.find(slot);
  if (device != record->second.devices.end()) {
    device->second.group->window.add(peaks, now);
  }
}

void Books::mark_shown(ReaderSet reader) {
  for (auto& [key, group] : groups_) {
    group.shown_to |= reader;
    for (auto& [name, device] : group.devices) {
      device.shown_to |= reader;
    }
  }
}

void Books::welcome(ReaderSet reader, Clock::time_point now) {
  if (!options_.is_lasting) {
    return;
  }
  const auto set = [&](auto& known) {
    known.shown_to = now - known.since > kIsNewFor ? known.shown_to | reader : known.shown_to & ~reader;
  };
  for (auto& [key, group] : groups_) {
    set(group);
    for (auto& [name, device] : group.devices) {
      set(device);
    }
  }
}

// A file is one error, however often it is met.
void Books::note_errors() {
  std::set<std::string> bad;
  for (const SkippedSegment& skipped : view_.skipped) {
    if (!bad_files_.contains(skipped.path)) {
      ++(skipped.wrong_layout ? wrong_layouts_ : damaged_);
    }
    bad.insert(skipped.path);
  }
  bad_files_ = std::move(bad);
}

void Books::forget(Clock::time_point now) {
  std::erase_if(records_, [&](const auto& entry) { return !entry.second.is_seen && now >= entry.second.known_until; });
  std::set<const Group*> in_use;
  for (const auto& [nonce, record] : records_) {
    if (!record.is_finished) {
      in_use.insert(record.group);
    }
  }
  std::erase_if(groups_, [&](const auto& entry) {
    const Group& group = entry.second;
    const Clock::duration stays = entry.first.id.empty() ? Clock::duration{kGroupStays} : kProcessStays;
    const bool is_over = !in_use.contains(&group) && now - group.last_alive > stays;
    if (is_over && entry.first.command != kOtherCommand) {
      series_ -= series_of_group() + group.devices.size() * series_of_device();
    }
    return is_over && entry.first.command != kOtherCommand;
  });
}

}  // namespace tidemark::viewer
