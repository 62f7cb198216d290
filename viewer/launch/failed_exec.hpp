// Why the kernel would not start a program that is there and executable.
#pragma once

#include <string>

namespace tidemark::viewer {

// One clause for `path` after an exec that ended with `error`: "its first line names /no/such/sh, which is not there",
// else the system's own word.
[[nodiscard]] std::string explain_failed_exec(const std::string& path, int error);

}  // namespace tidemark::viewer
