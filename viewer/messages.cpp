#include "viewer/messages.hpp"

#include <cstdio>
#include <string>

namespace tidemark::viewer {

void warn(std::string_view line) {
  std::string text = "tidemark: ";
  text += line;
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Messages::note(std::string_view line) const {
  if (!quiet_) {
    warn(line);
  }
}

}  // namespace tidemark::viewer
