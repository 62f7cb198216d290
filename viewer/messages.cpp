#include "viewer/messages.hpp"

#include "viewer/clean_text.hpp"

#include <cstdio>
#include <string>

namespace tidemark::viewer {

void warn(std::string_view line) {
  std::string text = "tidemark: ";
  text += clean_text(line, terminal_charset());  // names that others chose are in it
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Messages::note(std::string_view line) const {
  if (!quiet_) {
    warn(line);
  }
}

}  // namespace tidemark::viewer
