#include "viewer/render/emptied_text.hpp"

#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

std::string emptied_text(const Figures& before, const Figures& after) {
  std::vector<std::string> parts;
  std::uint64_t left = after.reserved;
  // Each byte is in one part: a pinned one may be a split one, too.
  const auto take = [&](std::uint64_t bytes, std::string_view why) {
    const std::uint64_t part = std::min(bytes, left);
    left -= part;
    if (part > 0) {
      parts.push_back(fmt::format("{} {}", size_words(part), why));
    }
  };
  take(after.allocated, "in use");
  take(after.pending, "freed with device work pending");
  take(after.pinned, "pinned, as another process has it");
  take(after.split, "free in segments that are partly in use");
  take(left, "still cached");
  const std::string given =
      before.cached + before.pending == 0 ? "nothing was cached"
      : before.reserved > after.reserved
          ? fmt::format("gave back {} of {}", size_words(before.reserved - after.reserved), size_words(before.reserved))
          : "gave nothing back";
  return parts.empty() ? fmt::format("{}; nothing stays", given)
                       : fmt::format("{}; {} stay: {}", given, size_words(after.reserved), fmt::join(parts, ", "));
}

}  // namespace tidemark::viewer
