#include "viewer/model/process_environment.hpp"

#include "viewer/number_text.hpp"

#include <fstream>

namespace tidemark::viewer {

Environment environment_of(const std::filesystem::path& process) {
  std::ifstream file(process / "environ", std::ios::binary);
  Environment environment;
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (const std::size_t equals = entry.find('='); equals != std::string::npos) {
      environment.insert_or_assign(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return environment;
}

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view{} : found->second;
}

bool is_in_list(std::string_view list, std::string_view name) {
  const std::string all = "," + std::string{list} + ",";
  return all.find("," + std::string{name} + ",") != std::string::npos;
}

bool is_another_meant(const Environment& environment, std::uint64_t own_pid) {
  const std::string_view only = value_of(environment, "TIDEMARK_ONLY_PID");
  const auto pid = parse_count(only);
  return pid && *pid != 0 && *pid != own_pid;
}

std::uint64_t own_pid_of(const std::filesystem::path& process) {
  constexpr std::string_view kNumbers = "NSpid:";  // ours first, its own last
  std::string pid = process.filename().string();
  std::ifstream status(process / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kNumbers)) {
      pid = line.substr(line.find_last_of(" \t") + 1);
      break;
    }
  }
  return parse_count(pid).value_or(0);
}

}  // namespace tidemark::viewer
