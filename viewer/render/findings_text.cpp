#include "viewer/render/findings_text.hpp"

#include "viewer/clean_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;

std::string_view to_text(Weight weight) {
  switch (weight) {
    case Weight::Fine:
      return "ok";
    case Weight::Note:
      return "note";
    case Weight::Problem:
      return "problem";
  }
  return "?";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

std::string findings_text(const Patient& patient, const Findings& findings, Charset charset) {
  std::string text = clean_text(patient.name, charset) + '\n';
  for (const Finding& finding : findings) {
    const std::string advice = finding.advice.empty() ? "" : fmt::format("; {}", finding.advice);
    text += fmt::format("  {:<8} {}\n", to_text(finding.weight), clean_text(finding.what + advice, charset));
  }
  const std::size_t problems = problems_in(findings);
  text += problems == 0   ? "no problem found\n"
          : problems == 1 ? "1 problem found\n"
                          : fmt::format("{} problems found\n", problems);
  return text;
}

std::string findings_json(const Patient& patient, const Findings& findings, std::uint64_t time_ns) {
  Json json{{"schema", 1},
            {"time", static_cast<double>(time_ns) / 1e9},
            {"kind", patient.kind},
            {"name", patient.name},
            {"pid", patient.pid ? Json(*patient.pid) : Json(nullptr)},
            {"id", text_or_null(patient.id)},
            {"problems", problems_in(findings)},
            {"findings", Json::array()}};
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"level", to_text(finding.weight)},
                                {"code", finding.code},
                                {"what", finding.what},
                                {"advice", text_or_null(finding.advice)}});
  }
  return escape_in_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace tidemark::viewer
