// The commands of `tidemark`, one file each; the table is in commands.cpp.
#pragma once

#include "viewer/context.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tidemark::viewer {

[[nodiscard]] Command run_command();
[[nodiscard]] Command env_command();
[[nodiscard]] Command ps_command();
[[nodiscard]] Command show_command();
[[nodiscard]] Command top_command();
[[nodiscard]] Command reset_peak_command();
[[nodiscard]] Command reset_accumulated_command();
[[nodiscard]] Command peak_command();
[[nodiscard]] Command empty_cache_command();
[[nodiscard]] Command export_command();
[[nodiscard]] Command doctor_command();
[[nodiscard]] Command limit_command();
[[nodiscard]] Command record_command();
[[nodiscard]] Command snapshot_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command diff_command();
[[nodiscard]] Command leaks_command();
[[nodiscard]] Command ranges_command();
[[nodiscard]] Command watch_command();
[[nodiscard]] Command gc_command();
[[nodiscard]] Command completion_command();
[[nodiscard]] Command help_command();

// All of them, in the order of the overview.
[[nodiscard]] std::span<const Command> all_commands();
[[nodiscard]] const Command* find_command(std::string_view name);

// The overview: usage, examples, one line a command.
[[nodiscard]] std::string overview();

// Throws Failure{Usage} with the nearest known name.
[[noreturn]] void fail_unknown_command(std::string_view name);

}  // namespace tidemark::viewer
