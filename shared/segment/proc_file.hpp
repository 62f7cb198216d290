// Reads the small files of /proc. No allocation.
#pragma once

#include <span>
#include <string_view>

namespace tidemark::segment {

// What fits into `buffer` of a file's beginning; empty when it cannot be read.
[[nodiscard]] std::string_view read_start_of(const char* path, std::span<char> buffer) noexcept;
// The same of a file that the kernel gives in one piece, such as /proc/PID/stat.
[[nodiscard]] std::string_view read_once(const char* path, std::span<char> buffer) noexcept;

}  // namespace tidemark::segment
