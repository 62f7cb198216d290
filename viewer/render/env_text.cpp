#include "viewer/render/env_text.hpp"

#include "viewer/clean_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kLettersAndDigits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool is_plain(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of(std::string{kLettersAndDigits} + "_/.,:=+-@%") == std::string_view::npos;
}

std::string replace_each(std::string_view text, char from, std::string_view to) {
  std::string replaced;
  for (const char c : text) {
    c == from ? replaced.append(to) : replaced.append(1, c);
  }
  return replaced;
}

// A field of the comma-separated list that --mount takes, read as CSV.
std::string mount_field(std::string_view name, std::string_view value) {
  const std::string field = fmt::format("{}={}", name, value);
  return field.find_first_of(",\"\n") == std::string::npos ? field
                                                           : fmt::format("\"{}\"", replace_each(field, '"', "\"\""));
}

// systemd expands specifiers in Environment=, and no variables (systemd.exec(5)).
std::string systemd_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        word += '\\';
        word += c;
        break;
      case '%':
        word += "%%";
        break;
      case '\n':
        word += "\\n";
        break;
      default:
        word += c;
    }
  }
  return fmt::format("\"{}\"", word);
}

// A JSON string is a YAML string. Bytes that are no UTF-8 can't stand in either.
std::string yaml_word(std::string_view text) {
  return escape_in_json(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string shell_word(std::string_view text) {
  return is_plain(text) ? std::string{text} : fmt::format("'{}'", replace_each(text, '\'', "'\\''"));
}

std::string shell_text(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    text += fmt::format("export {}={}\n", name, shell_word(value));
  }
  return text;
}

std::string docker_text(const Settings& settings, std::span<const Mount> mounts) {
  std::string text;
  for (const Mount& mount : mounts) {
    const std::string value = fmt::format("type=bind,{},{}{}", mount_field("source", mount.source),
                                          mount_field("target", mount.target), mount.is_writable ? "" : ",readonly");
    text += fmt::format("{}--mount {}", text.empty() ? "" : " ", shell_word(value));
  }
  for (const auto& [name, value] : settings) {
    text += fmt::format("{}--env {}", text.empty() ? "" : " ", shell_word(fmt::format("{}={}", name, value)));
  }
  return text + '\n';
}

std::string systemd_text(const Settings& settings) {
  std::string text = "[Service]\n";
  for (const auto& [name, value] : settings) {
    text += fmt::format("Environment={}\n", systemd_word(fmt::format("{}={}", name, value)));
  }
  return text;
}

std::string k8s_text(const Settings& settings, std::span<const Mount> mounts) {
  std::string text = "# into the container:\nenv:\n";
  for (const auto& [name, value] : settings) {
    // Kubernetes expands $(NAME) in a value, and takes $$ for a dollar sign.
    text += fmt::format("  - name: {}\n    value: {}\n", name, yaml_word(replace_each(value, '$', "$$")));
  }
  text += "volumeMounts:\n";
  for (const Mount& mount : mounts) {
    text += fmt::format("  - name: tidemark-{}\n    mountPath: {}\n{}", mount.name, yaml_word(mount.target),
                        mount.is_writable ? "" : "    readOnly: true\n");
  }
  text += "# into the pod, whose nodes have these files:\nvolumes:\n";
  for (const Mount& mount : mounts) {
    text += fmt::format("  - name: tidemark-{}\n    hostPath:\n      path: {}\n      type: {}\n", mount.name,
                        yaml_word(mount.source), mount.is_directory ? "Directory" : "File");
  }
  return text;
}

}  // namespace tidemark::viewer
