// The options of `run`: one table, in which each option names the variable of the library that it sets. Variables that
// have no effect in the library yet have no option yet.
#pragma once

#include "viewer/arguments.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::viewer {

// The options of `run`, for its CommandSyntax.
[[nodiscard]] std::span<const OptionSpec> run_option_specs();

// What the program's environment will have that ours has not, in order.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Reads a variable of the present environment; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

// Values that the shim would not take are refused here: Failure{Usage}, naming what is allowed. Relative paths become
// absolute, since the program may change its directory.
[[nodiscard]] Settings shim_settings(const Arguments& arguments, const Environment& environment);

// With --nvtx, what makes the program's NVTX load `library`. Another tool's setting stays, which is said on stderr.
void add_nvtx_setting(Settings& settings, const Arguments& arguments, const Environment& environment,
                      std::string_view library);

// With --simulate, LD_LIBRARY_PATH; and LD_PRELOAD. `sanitizers` as preflight found them.
[[nodiscard]] Settings loader_settings(const Environment& environment, std::string_view library,
                                       std::string_view simulator, std::span<const std::string> sanitizers);

}  // namespace tidemark::viewer
