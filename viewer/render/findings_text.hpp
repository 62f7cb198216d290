// What `tidemark doctor` prints. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/doctor/finding.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::viewer {

// What was looked at.
struct Patient {
  std::string_view kind;  // "process", "program", "machine"
  std::string name;       // "4711 python3 train.py"
  std::optional<std::uint64_t> pid = std::nullopt;
  std::string id{};  // of its segment; empty: none
};

// A headline, one line a finding, and one that counts the problems.
[[nodiscard]] std::string findings_text(const Patient& patient, const Findings& findings, Charset charset);
// One document with its newline.
[[nodiscard]] std::string findings_json(const Patient& patient, const Findings& findings, std::uint64_t time_ns);

}  // namespace tidemark::viewer
