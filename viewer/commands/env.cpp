// tidemark env: the settings that `run` would make, for those who start programs in another way.
#include "viewer/commands/commands.hpp"
#include "viewer/launch/places.hpp"
#include "viewer/launch/preload_text.hpp"
#include "viewer/launch/run_options.hpp"
#include "viewer/render/env_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::array kForms{
    OptionSpec{"--shell", "", Takes::Nothing, "", "lines for eval, or to be sourced (default)"},
    OptionSpec{"--docker", "", Takes::Nothing, "", "options of 'docker run', on one line"},
    OptionSpec{"--systemd", "", Takes::Nothing, "", "a drop-in for a service"},
    OptionSpec{"--k8s", "", Takes::Nothing, "", "parts of a pod"},
};

// Options of `run` about the program and its process, which are not known here.
constexpr std::array<std::string_view, 3> kOfOneProgram{"--strict", "--no-children", "--expect"};

// Where a container finds what it is lent.
constexpr std::string_view kLibraryInside = "/opt/tidemark/libtidemark.so";
constexpr std::string_view kSimulatorInside = "/opt/tidemark/simulator";

std::string_view form_of(const Arguments& arguments) {
  std::string_view form = "--shell";
  std::size_t given = 0;
  for (const OptionSpec& known : kForms) {
    if (arguments.has(known.name)) {
      form = known.name;
      ++given;
    }
  }
  if (given > 1) {
    throw Failure(ExitCode::Usage, "env: one of --shell --docker --systemd --k8s");
  }
  return form;
}

std::optional<std::string> present_environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

// A service and a container begin with an environment of their own.
std::optional<std::string> empty_environment(std::string_view) { return std::nullopt; }

Settings all_settings(const Arguments& arguments, const Environment& environment, std::string_view library,
                      std::string_view simulator) {
  Settings settings = shim_settings(arguments, environment);
  add_nvtx_setting(settings, arguments, environment, library);
  for (auto& setting : loader_settings(environment, library, simulator, {})) {
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::string text_for_container(const Arguments& arguments, std::string_view form) {
  const std::filesystem::path bin = executable_directory();
  std::vector<Mount> mounts{{.name = "library",
                             .source = find_library(bin).string(),
                             .target = std::string{kLibraryInside},
                             .is_directory = false,
                             .is_writable = false}};
  std::string_view simulator;
  if (arguments.has("--simulate")) {
    simulator = kSimulatorInside;
    mounts.push_back({.name = "simulator",
                      .source = find_simulator(bin).string(),
                      .target = std::string{simulator},
                      .is_directory = true,
                      .is_writable = false});
  }
  const Settings settings = all_settings(arguments, empty_environment, kLibraryInside, simulator);
  for (const auto& [name, value] : settings) {
    if (name == "TIDEMARK_DIR") {
      mounts.push_back(
          {.name = "segments", .source = value, .target = value, .is_directory = true, .is_writable = true});
    }
  }
  return form == "--docker" ? docker_text(settings, mounts) : k8s_text(settings, mounts);
}

// The link that loadable_path makes goes with the session or the boot; a service outlives both.
std::string lasting_path(const std::filesystem::path& path) {
  if (!fits_in_preload(path.string())) {
    throw Failure(ExitCode::Failed, fmt::format("env: the loader cannot read the path '{}' (blank, colon or dollar "
                                                "sign); install Tidemark elsewhere",
                                                path.string()));
  }
  return path.string();
}

std::string text_of(const Arguments& arguments, std::string_view form) {
  if (form == "--docker" || form == "--k8s") {
    return text_for_container(arguments, form);
  }
  const bool lasts = form == "--systemd";
  const auto place = [&](const std::filesystem::path& path) {
    return lasts ? lasting_path(path) : loadable_path(path).string();
  };
  const std::filesystem::path bin = executable_directory();
  const std::string library = place(find_library(bin));
  const std::string simulator = arguments.has("--simulate") ? place(find_simulator(bin)) : std::string{};
  return lasts ? systemd_text(all_settings(arguments, empty_environment, library, simulator))
               : shell_text(all_settings(arguments, present_environment, library, simulator));
}

ExitCode run(const Arguments& arguments, const Context&) {
  const std::string_view form = form_of(arguments);
  try {
    fmt::print("{}", text_of(arguments, form));
  } catch (const Failure& failure) {
    // The options of `run` speak in its name, and nothing was to be launched here.
    const std::string_view what = failure.what();
    const ExitCode code = failure.code() == ExitCode::CannotLaunch ? ExitCode::Failed : failure.code();
    throw Failure(code, what.starts_with("run: ") ? fmt::format("env: {}", what.substr(5)) : std::string{what});
  }
  return ExitCode::Done;
}

std::span<const OptionSpec> options() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> list(kForms.begin(), kForms.end());
    for (const OptionSpec& option : run_option_specs()) {
      if (std::ranges::find(kOfOneProgram, option.name) == kOfOneProgram.end()) {
        list.push_back(option);
      }
    }
    return list;
  }();
  return all;
}

}  // namespace

Command env_command() {
  return {.syntax = {.name = "env",
                     .operands = "",
                     .takes = Operands::None,
                     .summary = "Prints the settings that 'run' would make, for other ways to start a program.",
                     .examples = "  eval \"$(tidemark env --label nightly)\"; ./train\n"
                                 "  eval docker run \"$(tidemark env --docker)\" IMAGE ./train\n"
                                 "  tidemark env --systemd > /etc/systemd/system/train.service.d/tidemark.conf\n"
                                 "  tidemark env --k8s --limit 8GiB\n",
                     .options = options(),
                     .looks_at_segments = false},
          .run = run};
}

}  // namespace tidemark::viewer
