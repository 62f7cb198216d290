// tidemark gc: removes what dead processes left.
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/size_text.hpp"

#include "shared/segment/enumerate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--older-than", "", Takes::Value, "DUR", "only segments whose process died that long ago: 10m, 24h, 7d"},
    OptionSpec{"--dry-run", "-n", Takes::Nothing, "", "say what would be removed, and remove nothing"},
};

// "2 of dead processes removed (96.00 KiB); left: 1 died less than 1 h 00 min ago, 3 live".
std::string summary_of(const segment::GcResult& result, const segment::GcOptions& options, std::uint64_t bytes) {
  const std::string_view verb = options.dry_run ? "would be removed" : "removed";
  const std::string removed = result.removed.empty() ? fmt::format("nothing {}", verb)
                                                     : fmt::format("{} of dead processes {} ({})",
                                                                   result.removed.size(), verb, size_words(bytes));
  std::vector<std::string> left;
  if (result.kept > 0) {
    left.push_back(fmt::format("{} died less than {} ago", result.kept, duration_words(options.keep_for)));
  }
  if (result.alive > 0) {
    left.push_back(fmt::format("{} live", result.alive));
  }
  return left.empty() ? removed : fmt::format("{}; left: {}", removed, fmt::join(left, ", "));
}

ExitCode run(const Arguments& arguments, const Context& context) {
  segment::GcOptions options{.keep_for = std::chrono::seconds{0},
                             .keep_at_most = std::numeric_limits<std::size_t>::max(),
                             .dry_run = arguments.has("--dry-run"),
                             .of_everyone = geteuid() == 0};
  if (const auto text = arguments.value("--older-than")) {
    const auto age = parse_duration(*text);
    if (!age) {
      throw Failure(ExitCode::Usage, fmt::format("gc: --older-than '{}'; allowed: {}", *text, kDurationForms));
    }
    options.keep_for = std::chrono::ceil<std::chrono::seconds>(*age);
  }
  std::vector<std::string> directories;
  for (const std::filesystem::path& directory : context.directories) {
    directories.push_back(directory.string());
  }
  const segment::GcResult result = segment::collect_garbage(directories, options);
  std::uint64_t bytes = 0;
  for (const segment::RemovedSegment& removed : result.removed) {
    const std::string whose = removed.uid == geteuid() ? "" : fmt::format(", of user {}", removed.uid);
    fmt::print("{} {} ({}{})\n", options.dry_run ? "would remove" : "removed", removed.path, size_words(removed.bytes),
               whose);
    bytes += removed.bytes;
  }
  for (const segment::SkippedFile& failed : result.failed) {
    warn(fmt::format("{}: {}; it stays", failed.path, failed.reason));
  }
  context.messages.note(summary_of(result, options, bytes));
  for (const auto& [user, count] : result.left_alone) {
    context.messages.note(
        fmt::format("{} of user {} left alone, dead or alive; as root the dead ones would go", count, user));
  }
  return result.failed.empty() ? ExitCode::Done : ExitCode::Failed;
}

}  // namespace

Command gc_command() {
  return {.syntax = {.name = "gc",
                     .operands = "",
                     .takes = Operands::None,
                     .summary = "Removes the segments of dead processes: this user's, as root everybody's.",
                     .examples = "  tidemark gc --dry-run\n"
                                 "  tidemark gc --older-than 24h\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
