// tidemark doctor: why a process is tracked or isn't, whether a program can be, and what this machine has.
#include "viewer/commands/commands.hpp"
#include "viewer/doctor/machine_findings.hpp"
#include "viewer/doctor/process_findings.hpp"
#include "viewer/doctor/program_findings.hpp"
#include "viewer/model/act.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/render/findings_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document"},
};

struct Diagnosis {
  Patient patient;
  Findings findings;
};

std::optional<std::uint64_t> pid_in(const std::string& word) {
  std::uint64_t pid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  return error == std::errc{} && end == word.data() + word.size() && pid != 0 ? std::optional{pid} : std::nullopt;
}

bool is_running(std::uint64_t pid) {
  std::error_code error;
  return std::filesystem::exists(fmt::format("/proc/{}", pid), error);
}

// Null where no segment has that name, but a process has that pid.
ProcessView* find_published(View& view, const std::string& target) {
  try {
    return &view.processes[resolve_target(view, target)];
  } catch (const Failure& failure) {
    const std::optional<std::uint64_t> pid = pid_in(target);
    if (failure.code() == ExitCode::NotFound && pid && is_running(*pid)) {
      return nullptr;
    }
    throw;
  }
}

std::string name_of_program(const ProcessFacts& facts) {
  return facts.executable.empty() ? "?" : std::filesystem::path{facts.executable}.filename().string();
}

Diagnosis of_process(View& view, const std::string& target, const Context& context) {
  ProcessView* const published = find_published(view, target);
  const bool is_alive = published != nullptr && published->is_alive();
  const std::uint64_t pid =
      published == nullptr ? *pid_in(target) : static_cast<std::uint64_t>(published->snapshot.pid);
  Diagnosis diagnosis{.patient = {.kind = "process", .name = "", .pid = pid}, .findings = {}};
  ProcessFacts facts;
  if (published == nullptr || (is_alive && pid != 0)) {
    facts = read_process_facts(pid);
    diagnosis.findings = findings_of_process(facts, is_alive, context.directories);
    diagnosis.patient.name = fmt::format("{} {}", pid, name_of_program(facts));
  }
  if (published != nullptr) {
    read_details(*published);
    const std::string obstacle = is_alive ? obstacle_of(*published) : "";
    const Findings said = findings_of_segment(*published, obstacle, facts.drivers);
    diagnosis.findings.insert(diagnosis.findings.end(), said.begin(), said.end());
    diagnosis.patient.id = published->id();
    diagnosis.patient.name = fmt::format("{} {}", published->pid(), published->title());
    diagnosis.patient.pid = static_cast<std::uint64_t>(published->pid());
  }
  return diagnosis;
}

Environment own_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      environment.insert_or_assign(std::string{text.substr(0, equals)}, std::string{text.substr(equals + 1)});
    }
  }
  return environment;
}

Diagnosis of_program(const std::vector<std::string>& words) {
  if (words.empty()) {
    throw Failure(ExitCode::Usage, "doctor: needs a program behind '--'; see 'tidemark doctor --help'");
  }
  Diagnosis diagnosis{.patient = {.kind = "program", .name = words.front()},
                      .findings = findings_of_program(words, own_environment())};
  MachineFacts facts;
  read_installation(facts);
  for (Finding& finding : findings_of_installation(facts)) {
    diagnosis.findings.push_back(std::move(finding));
  }
  return diagnosis;
}

Diagnosis of_machine(View& view, const Context& context) {
  NodeWatch node;
  node.ask();
  node.answer_into(view);
  return {.patient = {.kind = "machine", .name = view.host},
          .findings = findings_of_machine(read_machine_facts(view, context.directories))};
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const bool has_target = !arguments.operands().empty();
  if (has_target && arguments.program()) {
    throw Failure(ExitCode::Usage, "doctor: takes a TARGET or a program, not both; see 'tidemark doctor --help'");
  }
  View view = collect(context.directories);
  Diagnosis diagnosis;
  if (arguments.program()) {
    diagnosis = of_program(*arguments.program());
  } else {
    diagnosis = has_target ? of_process(view, arguments.operands().front(), context) : of_machine(view, context);
  }
  fmt::print("{}", arguments.has("--json") ? findings_json(diagnosis.patient, diagnosis.findings, view.time_ns)
                                           : findings_text(diagnosis.patient, diagnosis.findings, terminal_charset()));
  const bool is_hidden =
      std::ranges::any_of(diagnosis.findings, [](const Finding& finding) { return finding.code == kUnreadable; });
  return is_hidden                              ? ExitCode::PermissionDenied
         : problems_in(diagnosis.findings) == 0 ? ExitCode::Done
                                                : ExitCode::Failed;
}

}  // namespace

Command doctor_command() {
  return {.syntax = {.name = "doctor",
                     .operands = "[TARGET] [-- CMD ARG...]",
                     .takes = Operands::OneOrProgram,
                     .summary = "Says why something is tracked or isn't: a process, a program, this machine.",
                     .examples = "  tidemark doctor\n"
                                 "  tidemark doctor 4711\n"
                                 "  tidemark doctor -- ./train --epochs 3\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
