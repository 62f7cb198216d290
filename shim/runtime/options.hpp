// The TIDEMARK_* variables of INTERFACE section 2, read once in a process, before anything can be said: what was wrong
// with them is kept and said when there is something to say it about.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "shared/history/words.hpp"
#include "shim/runtime/log.hpp"

namespace tidemark::runtime {

enum class Mode { Cache, Count, Off };
enum class SegmentKind { Named, Memfd, Off };
enum class Access { Owner, Group, All };
enum class Keep { Auto, All, None };
enum class Control { Full, Peaks, Off };
enum class Free { Strict, Fast };
enum class Fill { None, Zero, Poison };
enum class Record { Off, State, All };

// A copy: the program may change or free its environment later.
class OptionText {
 public:
  // False: too long, nothing was taken.
  bool assign(std::string_view text) noexcept;
  [[nodiscard]] bool empty() const noexcept { return bytes_[0] == '\0'; }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }
  [[nodiscard]] const char* c_str_or_null() const noexcept { return empty() ? nullptr : c_str(); }
  [[nodiscard]] std::string_view view() const noexcept { return c_str(); }

 private:
  std::array<char, 512> bytes_{};
};

struct Options {
  Mode mode = Mode::Cache;
  bool is_mode_set = false;  // by the user: what is seen in the process doesn't change it
  Free free = Free::Strict;
  Fill fill = Fill::None;
  SegmentKind segment = SegmentKind::Named;
  Access access = Access::Owner;
  Keep keep = Keep::Auto;
  Control control = Control::Full;
  bool has_thread = true;
  LogLevel log = LogLevel::Warn;
  OptionText log_file;
  OptionText label;
  OptionText directory;
  OptionText alloc_conf;
  OptionText limit;
  OptionText skip;
  OptionText run_id;           // of `tidemark run`, which finds the processes of its run by it
  std::uint64_t only_pid = 0;  // 0: every process
  Record record = Record::Off;
  history::Stacks record_stacks = history::Stacks::All;
  std::uint64_t record_max_entries = history::kDefaultEntries;
  OptionText snapshot_on_oom;  // a pattern (path_pattern.hpp)
  OptionText report;           // empty: none; "stderr", or a pattern
};

// What was wrong, one line each; more than fit are counted.
class OptionWarnings {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept;
  // Says all of them at level Warn and forgets them.
  void say() noexcept;
  // What is added from now on is left out.
  void take_no_more() noexcept { takes_more_ = false; }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] const char* line(int index) const noexcept { return lines_[static_cast<std::size_t>(index)].data(); }

 private:
  static constexpr int kMost = 8;
  std::array<std::array<char, 320>, kMost> lines_{};
  int count_ = 0;
  int left_out_ = 0;
  bool takes_more_ = true;
};

// Reads `environment` (a NULL-terminated array of NAME=value, like environ). A setuid program's variables are not its
// owner's: the caller passes an empty array there.
[[nodiscard]] Options read_options(const char* const* environment, OptionWarnings& warnings) noexcept;

// TIDEMARK_SKIP: does the list of names hold this executable's file name?
[[nodiscard]] bool is_in_list(std::string_view list, std::string_view name) noexcept;

// Of the variable names we know, the one that is fewest edits away; for messages.
[[nodiscard]] std::string_view nearest_variable(std::string_view name) noexcept;

}  // namespace tidemark::runtime
