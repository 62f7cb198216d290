// tidemark ranges: the peaks of a program's NVTX ranges, by name.
#include "viewer/commands/commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/range_table.hpp"
#include "viewer/model/target.hpp"
#include "viewer/render/ranges_text.hpp"
#include "viewer/terminal_width.hpp"

#include <fmt/format.h>

#include <array>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--sort", "", Takes::Value, "KEY", "added (default), allocated, reserved, times or name",
               "added allocated reserved times name"},
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document"},
};

ExitCode run(const Arguments& arguments, const Context& context) {
  const View view = collect(context.directories);
  const ProcessView& process = view.processes[resolve_target(view, arguments.operands().front())];
  std::vector<NamedRange> ranges = read_ranges(process);
  sort_ranges(ranges, arguments.value("--sort").value_or("added"));
  if (arguments.has("--json")) {
    fmt::print("{}", ranges_json(process, ranges, view.time_ns));
  } else if (!ranges.empty()) {
    fmt::print("{}", ranges_text(ranges, terminal_charset(), terminal_width()));
  }
  if (ranges.empty()) {
    context.messages.note(
        fmt::format("process {}: no NVTX range has ended there while it had memory; they are measured "
                    "in programs started with 'tidemark run --nvtx'",
                    process.pid()));
  }
  return ExitCode::Done;
}

}  // namespace

Command ranges_command() {
  return {.syntax = {.name = "ranges",
                     .operands = "TARGET",
                     .takes = Operands::One,
                     .summary = "Shows the peaks of a program's NVTX ranges by name; it was started with run --nvtx.",
                     .examples = "  tidemark run --nvtx --label train -- ./train &\n"
                                 "  tidemark ranges train\n"
                                 "  tidemark ranges 4711 --sort times\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
