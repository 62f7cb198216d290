#include "viewer/history/top_option.hpp"

#include "viewer/exit_code.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

namespace tidemark::viewer {

std::size_t top_option(const Arguments& arguments, std::string_view command) {
  const auto text = arguments.value("--top");
  if (!text) {
    return kDefaultTop;
  }
  std::size_t count = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, count);
  if (error != std::errc{} || stop != end) {
    throw Failure(ExitCode::Usage, fmt::format("{}: --top '{}'; allowed: a number, 0 for all", command, *text));
  }
  return count == 0 ? SIZE_MAX : count;
}

}  // namespace tidemark::viewer
