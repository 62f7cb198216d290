#include "shim/runtime/settings_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace tidemark::runtime {
namespace {

class Writer {
 public:
  explicit Writer(SettingsText& text) noexcept : rest_(text), text_(text.data()) {}

  void add(std::string_view name, std::string_view value) noexcept {
    if (name.size() + value.size() + 2 <= rest_.size()) {
      put(name);
      put(value);
    }
  }
  [[nodiscard]] std::string_view text() const noexcept {
    return {text_, static_cast<std::size_t>(rest_.data() - text_)};
  }

 private:
  void put(std::string_view word) noexcept {
    *std::copy(word.begin(), word.end(), rest_.begin()) = '\0';
    rest_ = rest_.subspan(word.size() + 1);
  }

  std::span<char> rest_;
  const char* text_;
};

}  // namespace

std::string_view list_settings(const Options& options, SettingsText& text) noexcept {
  constexpr std::string_view kModes[] = {"cache", "count", "off"};
  constexpr std::string_view kFrees[] = {"strict", "fast"};
  constexpr std::string_view kFills[] = {"none", "zero", "poison"};
  constexpr std::string_view kSegments[] = {"named", "memfd", "off"};
  constexpr std::string_view kAccesses[] = {"owner", "group", "all"};
  constexpr std::string_view kKeeps[] = {"auto", "all", "none"};
  constexpr std::string_view kControls[] = {"full", "peaks", "off"};
  constexpr std::string_view kRecords[] = {"off", "state", "all"};
  const auto word = [](const auto& words, auto choice) { return words[static_cast<std::size_t>(choice)]; };

  Writer writer{text};
  writer.add("mode", word(kModes, options.mode));
  writer.add("free", word(kFrees, options.free));
  writer.add("alloc_conf", options.alloc_conf.view());
  writer.add("limit", options.limit.view());
  writer.add("label", options.label.view());
  writer.add("shm", word(kSegments, options.segment));
  writer.add("dir", options.directory.empty() ? "/dev/shm" : options.directory.view());
  writer.add("access", word(kAccesses, options.access));
  writer.add("keep", word(kKeeps, options.keep));
  writer.add("control", word(kControls, options.control));
  writer.add("thread", options.has_thread ? "on" : "off");
  writer.add("fill", word(kFills, options.fill));
  writer.add("skip", options.skip.view());
  std::array<char, 24> only_pid{};
  if (options.only_pid != 0) {
    std::to_chars(only_pid.data(), only_pid.data() + only_pid.size() - 1, options.only_pid);
  }
  writer.add("only_pid", only_pid.data());
  writer.add("record", word(kRecords, options.record));
  std::array<char, 24> entries{};
  std::to_chars(entries.data(), entries.data() + entries.size() - 1, options.record_max_entries);
  writer.add("record_stacks", history::to_text(options.record_stacks));
  writer.add("record_max_entries", entries.data());
  writer.add("snapshot_on_oom", options.snapshot_on_oom.view());
  writer.add("report", options.report.empty() ? "off" : options.report.view());
  writer.add("run_id", options.run_id.view());
  return writer.text();
}

}  // namespace tidemark::runtime
