// Sizes as people read them (shared/base/size_text.hpp reads what they type). One formatter for tables, screens and
// sentences: powers of 1024, four significant digits, so that a number here compares with nvidia-smi's and a column
// never moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tidemark::viewer {

// Width of every text that `size_column` returns.
inline constexpr std::size_t kSizeColumns = 9;

// "1.500 GiB", " 1023 MiB", "  512 B  ": always kSizeColumns wide.
[[nodiscard]] std::string size_column(std::uint64_t bytes);

// The same without padding, for sentences: "1.500 GiB", "512 B".
[[nodiscard]] std::string size_words(std::uint64_t bytes);

}  // namespace tidemark::viewer
