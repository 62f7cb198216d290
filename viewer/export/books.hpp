// Adds up what processes count, so that no number falls when one of them ends or is reset, and keeps what else has to
// outlive a look: windows of peaks, and who ended how.
//
//   Books books({.per_process = false});
//   books.take(collect(...), now);     // again and again; at the latest when a page is wanted
//   write_page(books, ...);
//
// A process is known by its segment's nonce, never by its pid. One that removes its file as it ends is read once more
// through the reader that is still open: its last numbers are in the sums.
#pragma once

#include "viewer/export/group.hpp"
#include "viewer/model/view.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tidemark::viewer {

struct BookOptions {
  bool per_process = false;
  std::size_t max_series = 2000;
  // What was counted before the first look is left out: a server takes a counter that begins at a million for a million
  // events. False: a single look, which has to tell everything.
  bool is_lasting = true;
};

class Books {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Books(const BookOptions& options);

  // `unasked`: the nonces of living processes whose own peaks can't be had.
  void take(View view, const std::unordered_set<std::uint64_t>& unasked, Clock::time_point now);

  // Peaks of a process on one device, of the last second or so. Nothing for one that has no record.
  void add_peaks(std::uint64_t nonce, std::uint32_t slot, const Peaks& peaks, Clock::time_point now);

  // The next page for this reader shows all counters.
  void mark_shown(ReaderSet reader);
  // Somebody whose first page this is: for them what has been there for a while is nothing new.
  void welcome(ReaderSet reader, Clock::time_point now);

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] const BookOptions& options() const { return options_; }
  [[nodiscard]] const std::map<GroupKey, Group>& groups() const { return groups_; }
  // The group that a process's numbers are in: "_other" if there is no room for its own. Null: none yet.
  [[nodiscard]] const GroupKey* group_of(const ProcessView& process) const;
  [[nodiscard]] std::size_t folded_series() const { return folded_series_; }
  [[nodiscard]] std::uint64_t wrong_layouts() const { return wrong_layouts_; }
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  struct Device {
    DeviceGroup* group = nullptr;
    CounterFollower follower;
  };
  struct Record {
    GroupKey key;  // of the group it is in
    Group* group = nullptr;
    std::map<std::uint32_t, Device> devices;  // by slot
    std::uint64_t untracked = 0;
    std::uint64_t foreign_frees = 0;
    Clock::time_point next_coverage{};
    bool is_finished = false;
    Clock::time_point known_until{};  // a finished one, wherever its file is
    bool is_folded = false;
    bool is_seen = false;
  };

  void take_process(const ProcessView& process, const std::unordered_map<std::uint64_t, const ProcessView*>& earlier,
                    const std::unordered_set<std::uint64_t>& unasked, Clock::time_point now,
                    std::set<GroupKey>& folded);
  Record& record_of(const ProcessView& process);
  Device& device_of(Record& record, const DeviceView& device, bool is_from_start);
  void follow(Record& record, const ProcessView& process, const ProcessView* before, Clock::time_point now);
  void finish(Record& record, const ProcessView& process) const;
  void follow_departed(std::vector<ProcessView> before, Clock::time_point now);
  void add_living(const ProcessView& process, const std::unordered_set<std::uint64_t>& unasked, Clock::time_point now);
  void note_errors();
  void forget(Clock::time_point now);

  BookOptions options_;
  View view_;
  std::map<GroupKey, Group> groups_;
  std::unordered_map<std::uint64_t, Record> records_;
  std::vector<ProcessView> departing_;  // alive without a file, when last looked at
  bool is_first_look_ = true;
  Clock::time_point now_{};  // of the look that is being taken
  std::size_t series_ = 0;   // that the groups have room for
  std::size_t folded_series_ = 0;
  std::set<std::string> bad_files_;
  std::uint64_t wrong_layouts_ = 0;
  std::uint64_t damaged_ = 0;
};

// Series that a group has at most, without its ranks: for itself, and for each of its devices.
[[nodiscard]] std::size_t series_of_group();
[[nodiscard]] std::size_t series_of_device();

}  // namespace tidemark::viewer
