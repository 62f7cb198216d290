// What goes to stderr: one line, prefixed "tidemark: ", so that results on stdout stay parseable.
#pragma once

#include <string_view>

namespace tidemark::viewer {

void warn(std::string_view line);

// Warnings and hints that -q silences; errors are not among them.
class Messages {
 public:
  explicit Messages(bool quiet) : quiet_(quiet) {}

  [[nodiscard]] bool quiet() const { return quiet_; }
  void note(std::string_view line) const;

 private:
  bool quiet_;
};

}  // namespace tidemark::viewer
