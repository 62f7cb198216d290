#include "viewer/launch/preload_text.hpp"

#include <algorithm>
#include <vector>

namespace tidemark::viewer {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> split(std::string_view list, std::string_view separators, bool keep_empty) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = list.find_first_of(separators);
    const std::string_view part = list.substr(0, end);
    if (keep_empty || !part.empty()) {
      parts.emplace_back(part);
    }
    if (end == std::string_view::npos) {
      return parts;
    }
    list.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += text.empty() ? part : ":" + part;
  }
  return text;
}

}  // namespace

bool is_sanitizer_runtime(std::string_view name) {
  const std::string_view base = base_name(name);
  if (base.starts_with("libclang_rt.")) {
    return base.find("san") != std::string_view::npos;
  }
  const std::size_t end = base.find(".so");
  return base.starts_with("lib") && end != std::string_view::npos && base.substr(0, end).ends_with("san");
}

bool fits_in_preload(std::string_view path) { return path.find_first_of(" \t\n:;$") == std::string_view::npos; }

std::string compose_preload(std::string_view existing, std::string_view ours, std::span<const std::string> first) {
  std::vector<std::string> sanitizers(first.begin(), first.end());
  std::vector<std::string> others;
  for (std::string& part : split(existing, " :", false)) {
    if (is_sanitizer_runtime(part)) {
      // The same runtime under a full path and under its soname is one library: the user's spelling wins.
      std::erase_if(sanitizers, [&](const std::string& known) { return base_name(known) == base_name(part); });
      sanitizers.push_back(std::move(part));
    } else if (base_name(part) != "libtidemark.so") {
      others.push_back(std::move(part));
    }
  }
  sanitizers.emplace_back(ours);
  sanitizers.insert(sanitizers.end(), others.begin(), others.end());
  return join(sanitizers);
}

std::string compose_library_path(std::string_view existing, std::string_view directory) {
  std::string text{directory};
  if (existing.empty()) {
    return text;
  }
  for (const std::string& part : split(existing, ":", true)) {
    if (part != directory) {
      text += ":" + part;
    }
  }
  return text;
}

}  // namespace tidemark::viewer
