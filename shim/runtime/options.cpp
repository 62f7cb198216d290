#include "shim/runtime/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <span>

namespace tidemark::runtime {
namespace {

constexpr std::string_view kPrefix = "TIDEMARK_";

struct Word {
  std::string_view text;
  int value;
};

constexpr Word kModes[] = {{"cache", int(Mode::Cache)}, {"count", int(Mode::Count)}, {"off", int(Mode::Off)}};
constexpr Word kFrees[] = {{"strict", int(Free::Strict)}, {"fast", int(Free::Fast)}};
constexpr Word kFills[] = {{"none", int(Fill::None)}, {"zero", int(Fill::Zero)}, {"poison", int(Fill::Poison)}};
constexpr Word kSegments[] = {
    {"named", int(SegmentKind::Named)}, {"memfd", int(SegmentKind::Memfd)}, {"off", int(SegmentKind::Off)}};
constexpr Word kAccesses[] = {{"owner", int(Access::Owner)}, {"group", int(Access::Group)}, {"all", int(Access::All)}};
constexpr Word kKeeps[] = {{"auto", int(Keep::Auto)}, {"all", int(Keep::All)}, {"none", int(Keep::None)}};
constexpr Word kControls[] = {{"full", int(Control::Full)}, {"peaks", int(Control::Peaks)}, {"off", int(Control::Off)}};
constexpr Word kRecords[] = {{"off", int(Record::Off)}, {"state", int(Record::State)}, {"all", int(Record::All)}};
constexpr Word kStacks[] = {{"all", int(history::Stacks::All)},
                            {"cpp", int(history::Stacks::Cpp)},
                            {"python", int(history::Stacks::Python)},
                            {"none", int(history::Stacks::None)}};
constexpr Word kSwitches[] = {{"on", 1}, {"1", 1}, {"off", 0}, {"0", 0}};
constexpr Word kLogLevels[] = {{"warn", int(LogLevel::Warn)},
                               {"error", int(LogLevel::Error)},
                               {"info", int(LogLevel::Info)},
                               {"debug", int(LogLevel::Debug)},
                               {"off", int(LogLevel::Off)}};

// The value's place among `words`; a bad one is warned about and leaves `value` as it was. The first word is the
// default.
template <class Enum>
void choose(Enum& value, std::span<const Word> words, std::string_view name, const char* text,
            OptionWarnings& warnings) noexcept {
  const auto found = std::find_if(words.begin(), words.end(), [&](const Word& word) { return word.text == text; });
  if (found != words.end()) {
    value = static_cast<Enum>(found->value);
    return;
  }
  char allowed[96];
  std::size_t used = 0;
  for (const Word& word : words) {
    used +=
        static_cast<std::size_t>(std::snprintf(allowed + used, sizeof allowed - used, "%s%.*s", used == 0 ? "" : ", ",
                                               static_cast<int>(word.text.size()), word.text.data()));
  }
  warnings.add("%.*s=%s is not one of %s; %.*s is used", static_cast<int>(name.size()), name.data(), text, allowed,
               static_cast<int>(words.front().text.size()), words.front().text.data());
}

void choose_entries(Options& options, std::string_view name, const char* text, OptionWarnings& warnings) noexcept {
  const std::string_view digits = text;
  std::uint64_t entries = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), entries);
  if (error != std::errc{} || end != digits.data() + digits.size() || entries == 0 || entries > history::kMostEntries) {
    warnings.add("%.*s=%s is not a number from 1 to %llu; %llu is used", static_cast<int>(name.size()), name.data(),
                 text, static_cast<unsigned long long>(history::kMostEntries),
                 static_cast<unsigned long long>(options.record_max_entries));
    return;
  }
  options.record_max_entries = entries;
}

void choose_pid(Options& options, std::string_view name, const char* text, OptionWarnings& warnings) noexcept {
  const std::string_view digits = text;
  std::uint64_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc{} || end != digits.data() + digits.size() || pid == 0) {
    warnings.add("%.*s=%s is not the number of a process; all are tracked", static_cast<int>(name.size()), name.data(),
                 text);
    return;
  }
  options.only_pid = pid;
}

using Reader = void (*)(Options&, std::string_view name, const char* value, OptionWarnings&) noexcept;

struct Variable {
  std::string_view name;
  Reader read;  // null: known, and not for us
};

#define TIDEMARK_CHOICE(member, words)                                                                \
  [](Options& options, std::string_view name, const char* value, OptionWarnings& warnings) noexcept { \
    choose(options.member, words, name, value, warnings);                                             \
  }
#define TIDEMARK_TEXT(member)                                                                         \
  [](Options& options, std::string_view name, const char* value, OptionWarnings& warnings) noexcept { \
    if (!options.member.assign(value)) {                                                              \
      warnings.add("%.*s is too long and ignored", static_cast<int>(name.size()), name.data());       \
    }                                                                                                 \
  }

constexpr Variable kVariables[] = {
    {"TIDEMARK_MODE",
     [](Options& options, std::string_view name, const char* value, OptionWarnings& warnings) noexcept {
       choose(options.mode, kModes, name, value, warnings);
       options.is_mode_set = std::ranges::any_of(kModes, [&](const Word& word) { return word.text == value; });
     }},
    {"TIDEMARK_FREE", TIDEMARK_CHOICE(free, kFrees)},
    {"TIDEMARK_ALLOC_CONF", TIDEMARK_TEXT(alloc_conf)},
    {"TIDEMARK_LIMIT", TIDEMARK_TEXT(limit)},
    {"TIDEMARK_LABEL", TIDEMARK_TEXT(label)},
    {"TIDEMARK_SHM", TIDEMARK_CHOICE(segment, kSegments)},
    {"TIDEMARK_DIR", TIDEMARK_TEXT(directory)},
    {"TIDEMARK_ACCESS", TIDEMARK_CHOICE(access, kAccesses)},
    {"TIDEMARK_KEEP", TIDEMARK_CHOICE(keep, kKeeps)},
    {"TIDEMARK_CONTROL", TIDEMARK_CHOICE(control, kControls)},
    {"TIDEMARK_THREAD", TIDEMARK_CHOICE(has_thread, kSwitches)},
    {"TIDEMARK_SKIP", TIDEMARK_TEXT(skip)},
    {"TIDEMARK_ONLY_PID", &choose_pid},
    {"TIDEMARK_RUN_ID", TIDEMARK_TEXT(run_id)},
    {"TIDEMARK_RECORD", TIDEMARK_CHOICE(record, kRecords)},
    {"TIDEMARK_RECORD_STACKS",
     [](Options& options, std::string_view name, const char* value, OptionWarnings& warnings) noexcept {
       choose(options.record_stacks, kStacks, name, value, warnings);
     }},
    {"TIDEMARK_RECORD_MAX_ENTRIES", &choose_entries},
    {"TIDEMARK_SNAPSHOT_ON_OOM", TIDEMARK_TEXT(snapshot_on_oom)},
    {"TIDEMARK_REPORT",
     [](Options& options, std::string_view name, const char* value, OptionWarnings& warnings) noexcept {
       if (const std::string_view text = value; text == "off" || text == "0") {
         options.report = {};
       } else if (!options.report.assign(text == "on" || text == "1" ? "stderr" : text)) {
         warnings.add("%.*s is too long and ignored", static_cast<int>(name.size()), name.data());
       }
     }},
    {"TIDEMARK_FILL", TIDEMARK_CHOICE(fill, kFills)},
    {"TIDEMARK_LOG", TIDEMARK_CHOICE(log, kLogLevels)},
    {"TIDEMARK_LOG_FILE", TIDEMARK_TEXT(log_file)},
    // What `tidemark watch` tells its command, which may start a program of ours in turn.
    {"TIDEMARK_EVENT", nullptr},
    {"TIDEMARK_PID", nullptr},
    {"TIDEMARK_ID", nullptr},
    {"TIDEMARK_DEVICE", nullptr},
    {"TIDEMARK_REQUESTED_BYTES", nullptr},
    {"TIDEMARK_ALLOCATED_BYTES", nullptr},
    {"TIDEMARK_RESERVED_BYTES", nullptr},
    {"TIDEMARK_HELD_BYTES", nullptr},
    {"TIDEMARK_FREE_BYTES", nullptr},
    {"TIDEMARK_TOTAL_BYTES", nullptr},
    {"TIDEMARK_TIME", nullptr},
};

#undef TIDEMARK_CHOICE
#undef TIDEMARK_TEXT

void read_variable(Options& options, std::string_view name, const char* value, OptionWarnings& warnings) noexcept {
  const auto* const known =
      std::find_if(std::begin(kVariables), std::end(kVariables), [&](const Variable& v) { return v.name == name; });
  if (known == std::end(kVariables)) {
    const std::string_view nearest = nearest_variable(name);
    warnings.add("%.*s is not a variable of Tidemark; did you mean %.*s?", static_cast<int>(name.size()), name.data(),
                 static_cast<int>(nearest.size()), nearest.data());
  } else if (known->read != nullptr) {
    known->read(options, name, value, warnings);
  }
}

// Levenshtein distance; names longer than the row are as far away as they are long.
std::size_t edit_distance(std::string_view a, std::string_view b) noexcept {
  std::array<std::size_t, 64> row{};
  if (b.size() >= row.size()) {
    return b.size();
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

bool OptionText::assign(std::string_view text) noexcept {
  if (text.size() >= bytes_.size()) {
    return false;
  }
  std::fill(std::copy(text.begin(), text.end(), bytes_.begin()), bytes_.end(), '\0');
  return true;
}

void OptionWarnings::add(const char* format, ...) noexcept {
  if (!takes_more_) {
    return;
  }
  if (count_ == kMost) {
    ++left_out_;
    return;
  }
  auto& line = lines_[static_cast<std::size_t>(count_++)];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
}

void OptionWarnings::say() noexcept {
  for (int i = 0; i < count_; ++i) {
    log_line(LogLevel::Warn, "%s", line(i));
  }
  if (left_out_ > 0) {
    log_line(LogLevel::Warn, "%d more settings of TIDEMARK_* are wrong", left_out_);
  }
  count_ = 0;
  left_out_ = 0;
}

Options read_options(const char* const* environment, OptionWarnings& warnings) noexcept {
  Options options;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (entry.starts_with(kPrefix) && equals != std::string_view::npos) {
      read_variable(options, entry.substr(0, equals), *environment + equals + 1, warnings);
    }
  }
  return options;
}

bool is_in_list(std::string_view list, std::string_view name) noexcept {
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == name) {
      return true;
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

std::string_view nearest_variable(std::string_view name) noexcept {
  const auto distance = [name](const Variable& variable) {
    return variable.read == nullptr ? SIZE_MAX : edit_distance(name, variable.name);
  };
  return std::min_element(std::begin(kVariables), std::end(kVariables),
                          [&](const Variable& a, const Variable& b) { return distance(a) < distance(b); })
      ->name;
}

}  // namespace tidemark::runtime
