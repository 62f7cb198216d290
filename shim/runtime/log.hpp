// Lines on stderr (or TIDEMARK_LOG_FILE), one write(2) each, from a fixed buffer: no stdio of the program's is touched.
// Threads: any.
#pragma once

#include <cstdarg>

namespace tidemark::runtime {

enum class LogLevel : int { Off, Error, Warn, Info, Debug };

// Requires: `file` outlives the process or is null (stderr).
void set_log(LogLevel level, const char* file) noexcept;

// "tidemark: " + text + newline; longer than 400 bytes is cut.
[[gnu::format(printf, 2, 3)]] void log_line(LogLevel level, const char* format, ...) noexcept;

}  // namespace tidemark::runtime
