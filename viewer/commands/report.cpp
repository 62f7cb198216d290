// tidemark report: who holds the memory, since when, and how it is cut up.
#include "viewer/commands/commands.hpp"
#include "viewer/history/find_snapshot.hpp"
#include "viewer/history/frame_text.hpp"
#include "viewer/history/output_file.hpp"
#include "viewer/history/report_json.hpp"
#include "viewer/history/report_page.hpp"
#include "viewer/history/report_text.hpp"
#include "viewer/history/short_stacks.hpp"
#include "viewer/history/top_option.hpp"

#include <fmt/format.h>

#include <array>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--top", "-n", Takes::Value, "N", "stacks of each device that are told (10); 0: all"},
    OptionSpec{"--all-frames", "", Takes::Nothing, "",
               "whole stacks, with the calls inside the driver and in front of main()"},
    OptionSpec{"--html", "", Takes::Value, "FILE",
               "one page for a browser, with drawings; nothing in it is fetched; - is stdout"},
    OptionSpec{"--force", "-f", Takes::Nothing, "", "overwrite FILE"},
    OptionSpec{"--folded", "", Takes::Nothing, "", "stacks and bytes alone, for flame-graph tools"},
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document"},
};

void write_page(const std::string& path, bool overwrite, const std::string& page) {
  if (path == "-") {
    fmt::print("{}", page);
    return;
  }
  OutputFile file{path, overwrite, "--html"};
  file.write(page);
  file.finish();
  fmt::print("{}: open it in a browser\n", clean_text(path, terminal_charset()));
}

ExitCode run(const Arguments& arguments, const Context& context) {
  if (arguments.has("--json") + arguments.has("--folded") + arguments.has("--html") > 1) {
    throw Failure(ExitCode::Usage, "report: one of --json, --folded and --html");
  }
  const auto page = arguments.value("--html");
  if (page && page->empty()) {
    throw Failure(ExitCode::Usage, "report: --html ''; allowed: a file's name, or - for stdout");
  }
  const std::size_t top = top_option(arguments, "report");
  TakenSnapshot taken = find_snapshot(arguments.operands().front(), context);
  if (!arguments.has("--all-frames")) {
    shorten_stacks(taken.snapshot);
  }
  for (const std::string& note : taken.notes) {
    context.messages.note(note);
  }
  if (arguments.has("--folded")) {
    if (!taken.snapshot.has_stacks()) {
      throw Failure(ExitCode::Failed,
                    fmt::format("{}: no stacks were recorded, so there are none to fold; to have them next time: "
                                "tidemark record start, or run --record",
                                arguments.operands().front()));
    }
    fmt::print("{}", folded_text(taken.snapshot));
    return ExitCode::Done;
  }
  const Report report = report_of(taken.snapshot, kTextParts);
  if (page) {
    write_page(*page, arguments.has("--force"), report_page(taken.snapshot, report_text(report, Charset::Utf8, top)));
    return ExitCode::Done;
  }
  if (arguments.has("--json")) {
    fmt::print("{}\n", report_json(report));
  } else {
    fmt::print("{}", report_text(report, terminal_charset(), top));
  }
  return ExitCode::Done;
}

}  // namespace

Command report_command() {
  return {.syntax = {.name = "report",
                     .operands = "TARGET|FILE",
                     .takes = Operands::One,
                     .summary = "Tells who holds the memory: by stack, size and age, over time, and how it is cut up.",
                     .examples = "  tidemark report 4711\n"
                                 "  tidemark report oom.tmsnap --html oom.html\n"
                                 "  tidemark report before.pickle --folded > held.folded\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
