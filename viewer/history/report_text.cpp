#include "viewer/history/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

#include "viewer/duration_text.hpp"
#include "viewer/history/frame_text.hpp"
#include "viewer/history/sparkline.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

namespace tidemark::viewer {
namespace {

// Short ones by their tenths or finer, so that two of almost the same moments don't look like a mistake.
std::string length_words(std::uint64_t begin_ns, std::uint64_t end_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t length = end_ns > begin_ns ? end_ns - begin_ns : 0;
  if (length != 0 && length < 10 * kSecond) {
    return length < kSecond ? time_text(length)
                            : fmt::format("{:.1f} s", static_cast<double>(length / (kSecond / 10)) / 10);
  }
  return duration_words(std::chrono::seconds{length / kSecond});
}

// Ages of blocks that are older than the recording are known to about a second.
std::string age_words(std::uint64_t birth_ns, std::uint64_t now_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return now_ns < birth_ns + kSecond ? "under 1 s" : ago_words(birth_ns, now_ns);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string indented(std::string_view text, std::size_t columns) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    result += std::string(columns, ' ');
    result += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return result;
}

class Writer {
 public:
  Writer(const Report& report, Charset charset, std::size_t most) : report_(report), charset_(charset), most_(most) {}

  std::string write() {
    write_head();
    for (const DeviceReport& device : report_.devices) {
      write_device(device);
    }
    if (report_.devices.empty()) {
      text_ += "\nno device was used\n";
    }
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void line(std::size_t indent, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += std::string(indent, ' ');
    text_ += clean_text(fmt::format(format, std::forward<Arguments>(arguments)...), charset_);
    text_ += '\n';
  }

  void write_head() {
    const history::Recording& recording = report_.recording;
    line(0, "{}", report_.source.title);
    std::vector<std::string> who;
    if (recording.pid != 0) {
      who.push_back(fmt::format("pid {}", recording.pid));
    }
    if (!report_.source.id.empty()) {
      who.push_back(fmt::format("id {}", report_.source.id));
    }
    if (report_.time_ns != 0) {
      who.push_back("at " + clock_text(report_.time_ns, report_.time_ns));
    }
    if (report_.source.has_ended) {
      who.emplace_back("when it had ended");
    }
    line(2, "{}{}{}", fmt::join(who, ", "), who.empty() ? "" : "; ", recording_words(recording, report_.time_ns));
  }

  void write_device(const DeviceReport& device) {
    line(0, "");
    line(0, "{}{}{}", device.device, device.model.empty() ? "" : "  ", device.model);
    std::uint64_t free = 0;
    for (const PoolReport& pool : device.pools) {
      free += pool.free;
    }
    line(2, "{}  {} in {} (requested {}); freed but pending {}", report_.source.has_ended ? "held at its end" : "held",
         size_words(device.all.bytes), counted(device.all.blocks, "block", "blocks"), size_words(device.all.requested),
         size_words(device.pending));
    line(2, "reserved  {} in {}; free in them {}", size_words(device.reserved),
         counted(device.segments, "segment", "segments"), size_words(free));
    if (device.all.blocks > 0) {
      write_stacks(device);
      write_sizes(device);
      write_ages(device);
    }
    write_pools(device);
    write_time(device);
    write_out_of_memory(device);
  }

  void write_stacks(const DeviceReport& device) {
    const bool has_any = std::any_of(device.stacks.begin(), device.stacks.end(),
                                     [](const StackHeld& stack) { return !stack.frames.empty(); });
    if (!has_any) {
      line(2, "by stack: no stacks were recorded{}", how_to_record());
      return;
    }
    line(2, "by stack");
    const std::size_t shown = std::min(most_, device.stacks.size());
    for (std::size_t i = 0; i < shown; ++i) {
      write_stack(device, device.stacks[i]);
    }
    if (shown < device.stacks.size()) {
      Held rest;
      for (std::size_t i = shown; i < device.stacks.size(); ++i) {
        rest.bytes += device.stacks[i].held.bytes;
        rest.blocks += device.stacks[i].held.blocks;
      }
      line(4, "{} {:>8}  {} of {} more (--top {} shows them)", size_column(rest.bytes),
           share(rest.bytes, device.all.bytes), counted(rest.blocks, "block", "blocks"),
           counted(device.stacks.size() - shown, "stack", "stacks"), device.stacks.size());
    }
  }

  // For the next time, where there is one.
  [[nodiscard]] std::string how_to_record() const {
    const history::Recording& recording = report_.recording;
    if (recording.enabled != history::Enabled::Off || recording.pid == 0) {
      return "";
    }
    return report_.source.is_file || report_.source.has_ended
               ? "; to have them next time: tidemark run --record -- CMD"
               : fmt::format("; to have them from now on: tidemark record start {}", recording.pid);
  }

  void write_stack(const DeviceReport& device, const StackHeld& stack) {
    const std::string age =
        stack.held.oldest_ns ? "oldest " + age_words(*stack.held.oldest_ns, report_.time_ns) : "age unknown";
    line(4, "{} {:>8}  {}, {}", size_column(stack.held.bytes), share(stack.held.bytes, device.all.bytes),
         counted(stack.held.blocks, "block", "blocks"), age);
    write_frames(8, stack.frames);
  }

  void write_frames(std::size_t indent, const Frames& frames) {
    for (const std::string& frame : frame_lines(frames)) {
      line(indent, "{}", frame);
    }
  }

  void write_held_table(std::string_view title, TextTable& table) {
    line(2, "{}", title);
    text_ += indented(table.text(), 4);
  }

  void add_held_row(TextTable& table, std::string name, const Held& held, const DeviceReport& device) const {
    table.add_row({std::move(name), size_column(held.bytes), share(held.bytes, device.all.bytes),
                   grouped(static_cast<std::int64_t>(held.blocks))});
  }

  [[nodiscard]] TextTable held_table(std::string first) const {
    return TextTable{
        {{std::move(first), Align::Left}, {"BYTES", Align::Right}, {"SHARE", Align::Right}, {"BLOCKS", Align::Right}},
        charset_};
  }

  void write_sizes(const DeviceReport& device) {
    TextTable table = held_table("BLOCKS UP TO");
    for (const SizeHeld& size : device.sizes) {
      add_held_row(table, size_words(size.up_to), size.held, device);
    }
    write_held_table("by size", table);
  }

  void write_ages(const DeviceReport& device) {
    TextTable table = held_table("AGE");
    for (const AgeHeld& age : device.ages) {
      const auto words = [](std::uint64_t seconds) { return duration_words(std::chrono::seconds{seconds}); };
      add_held_row(table,
                   !age.from        ? std::string{"not known"}
                   : !age.to        ? fmt::format("over {}", words(*age.from))
                   : *age.from == 0 ? fmt::format("under {}", words(*age.to))
                                    : fmt::format("{} to {}", words(*age.from), words(*age.to)),
                   age.held, device);
    }
    write_held_table("by age", table);
  }

  void write_pools(const DeviceReport& device) {
    TextTable table{{{"POOL", Align::Left},
                     {"RESERVED", Align::Right},
                     {"HELD", Align::Right},
                     {"FREE", Align::Right},
                     {"LARGEST FREE", Align::Right},
                     {"FREE IN SPLIT SEGMENTS", Align::Right},
                     {"IDLE SEGMENTS", Align::Right}},
                    charset_};
    for (const PoolReport& pool : device.pools) {
      table.add_row({pool.name, size_column(pool.reserved), size_column(pool.allocated), size_column(pool.free),
                     size_column(pool.largest_free), size_column(pool.split_free),
                     fmt::format("{} of {}", pool.idle_segments, pool.segments)});
    }
    write_held_table("fragmentation", table);
  }

  void write_time(const DeviceReport& device) {
    if (device.timeline.empty()) {
      line(2, "timeline: no events were recorded");
      return;
    }
    std::vector<std::uint64_t> values;
    for (const TimePart& part : device.timeline) {
      values.push_back(part.allocated);
    }
    const std::uint64_t begin = device.timeline.front().time_ns;
    // From the first event: later than the recording began, so it may be the shorter.
    line(2, "timeline  {}{}", counted(device.events, "event", "events"),
         device.timeline_end_ns > begin ? " of " + length_words(begin, device.timeline_end_ns) : "");
    line(4, "{} |{}| {}", clock_text(begin, report_.time_ns), sparkline(values, charset_),
         clock_text(device.timeline_end_ns, report_.time_ns));
    line(4, "highest {} at {}", size_words(device.highest->allocated),
         clock_text(device.highest->time_ns, report_.time_ns));
  }

  void write_out_of_memory(const DeviceReport& device) {
    for (const OutOfMemory& event : device.out_of_memory) {
      const auto clock = [&](std::uint64_t time_ns) { return clock_text(time_ns, report_.time_ns); };
      const std::string first = clock(event.time_ns);
      const std::string last = clock(event.last_time_ns);
      const std::string when = fmt::format("{}{}", event.times == 1 ? "" : counted(event.times, "time ", "times "),
                                           first == last ? "at " + first : fmt::format("from {} to {}", first, last));
      const std::string limit =
          event.limit ? fmt::format(", refused by the limit of {}", size_words(*event.limit)) : "";
      line(2, "out of memory {}: {} wanted, {} free on the device{}", when, size_words(event.requested),
           size_words(event.device_free), limit);
      if (!event.frames.empty()) {
        write_frames(6, event.frames);
      }
    }
  }

  const Report& report_;
  const Charset charset_;
  const std::size_t most_;
  std::string text_;
};

}  // namespace

std::string recording_words(const history::Recording& recording, std::uint64_t now_ns) {
  if (recording.enabled == history::Enabled::Off) {
    return "not recorded: blocks, sizes and ages alone";
  }
  if (recording.since_ns == 0) {
    return "recorded by PyTorch";
  }
  return fmt::format("recorded since {} ({}): {}, stacks {}", clock_text(recording.since_ns, now_ns),
                     length_words(recording.since_ns, now_ns), to_text(recording.enabled), to_text(recording.stacks));
}

std::string report_text(const Report& report, Charset charset, std::size_t most) {
  return Writer{report, charset, most}.write();
}

}  // namespace tidemark::viewer
