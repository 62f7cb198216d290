// tidemark snapshot: a process's memory as a file, for PyTorch's viewers or for later.
#include "viewer/clean_text.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/history/find_snapshot.hpp"
#include "viewer/history/json_writer.hpp"
#include "viewer/history/output_file.hpp"
#include "viewer/history/pickle_writer.hpp"
#include "viewer/history/replay_log.hpp"
#include "viewer/history/snapshot_document.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--output", "-o", Takes::Value, "FILE", ".pickle, .json or .csv; otherwise tidemark-PID-TIME.pickle"},
    OptionSpec{"--force", "-f", Takes::Nothing, "", "overwrite FILE"},
    OptionSpec{"--device", "-d", Takes::Value, "DEVICE", "of a .csv, which has room for one: cuda:0, mtia:1"},
};

enum class Format { Pickle, Json, ReplayLog };

Format format_of(const std::filesystem::path& path) {
  if (path.extension() == ".pickle") {
    return Format::Pickle;
  }
  if (path.extension() == ".json") {
    return Format::Json;
  }
  if (path.extension() == ".csv") {
    return Format::ReplayLog;
  }
  throw Failure(ExitCode::Usage,
                fmt::format("snapshot: -o '{}'; allowed: a name that ends in .pickle (for memory_viz), "
                            ".json or .csv (for RMM's replay)",
                            path.native()));
}

// The device that a replay log is of.
const history::Device& only_device(const MemorySnapshot& snapshot, const std::optional<std::string>& wanted) {
  std::vector<std::string> names;
  for (const history::Device& device : snapshot.devices) {
    names.push_back(device_name(device.info));
    if (wanted ? names.back() == *wanted : snapshot.devices.size() == 1) {
      return device;
    }
  }
  if (names.empty()) {
    throw Failure(ExitCode::NotFound, "snapshot: no device was used");
  }
  throw Failure(wanted ? ExitCode::NotFound : ExitCode::Usage,
                fmt::format("snapshot: a .csv is of one device; allowed: --device {}", fmt::join(names, ", ")));
}

std::string default_name(const MemorySnapshot& snapshot) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto time = static_cast<std::time_t>(snapshot.time_ns() / kSecond);
  return fmt::format("tidemark-{}-{:%Y%m%d-%H%M%S}.pickle", snapshot.recording.pid, fmt::localtime(time));
}

WrittenDocument write(const MemorySnapshot& snapshot, Format format, OutputFile& file) {
  if (format == Format::Json) {
    JsonWriter writer{file};
    const WrittenDocument written = write_document(snapshot, writer);
    writer.finish();
    return written;
  }
  PickleWriter writer{file};
  const WrittenDocument written = write_document(snapshot, writer);
  writer.finish();
  return written;
}

std::size_t blocks_in_use(const MemorySnapshot& snapshot) {
  std::size_t blocks = 0;
  for (const history::Device& device : snapshot.devices) {
    for (const history::Segment& segment : device.segments) {
      blocks += static_cast<std::size_t>(
          std::count_if(segment.blocks.begin(), segment.blocks.end(),
                        [](const history::Block& block) { return is_held(block) || is_pending(block); }));
    }
  }
  return blocks;
}

ExitCode write_log(const MemorySnapshot& snapshot, const std::filesystem::path& path, const Arguments& arguments) {
  const history::Device& device = only_device(snapshot, arguments.value("--device"));
  OutputFile file{path, arguments.has("--force"), "-o"};
  const std::size_t lines = write_replay_log(snapshot, device, file);
  file.finish();
  fmt::print("{}: {} of {}\n", clean_text(path.native(), terminal_charset()), counted(lines, "call", "calls"),
             device_name(device.info));
  return ExitCode::Done;
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const auto wanted = arguments.value("--output");
  if (wanted) {
    static_cast<void>(format_of(*wanted));
  }
  const TakenSnapshot taken = find_snapshot(arguments.operands().front(), context);
  for (const std::string& note : taken.notes) {
    context.messages.note(note);
  }
  const std::filesystem::path path = wanted ? *wanted : default_name(taken.snapshot);
  const Format format = format_of(path);
  if (format == Format::ReplayLog) {
    return write_log(taken.snapshot, path, arguments);
  }
  OutputFile file{path, arguments.has("--force"), "-o"};
  const WrittenDocument written = write(taken.snapshot, format, file);
  file.finish();
  if (written.left_out > 0) {
    context.messages.note(fmt::format("{} left out, which cannot be followed back from what is there",
                                      counted(written.left_out, "earlier event was", "earlier events were")));
  }
  std::error_code ignored;
  fmt::print("{}: {} in use, {} ({})\n", clean_text(path.native(), terminal_charset()),
             counted(blocks_in_use(taken.snapshot), "block", "blocks"), counted(written.events, "event", "events"),
             size_words(std::filesystem::file_size(path, ignored)));
  return ExitCode::Done;
}

}  // namespace

Command snapshot_command() {
  return {
      .syntax = {.name = "snapshot",
                 .operands = "TARGET|FILE",
                 .takes = Operands::One,
                 .summary = "Saves every block, and what was recorded, for PyTorch's viewers and for report and diff.",
                 .examples = "  tidemark snapshot 4711                        tidemark-4711-TIME.pickle\n"
                             "  tidemark snapshot train -o before.json\n"
                             "  tidemark snapshot oom.tmsnap -o oom.pickle    of one that the library saved\n",
                 .options = kOptions},
      .run = run};
}

}  // namespace tidemark::viewer
