#include "viewer/launch/failed_exec.hpp"

#include "viewer/clean_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace tidemark::viewer {
namespace {

// The first word after "#!" as the kernel cuts it, which takes a carriage return for a part of it. Empty: no script.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  if (!line.starts_with("#!")) {
    return {};
  }
  const std::size_t begin = std::min(line.find_first_not_of(" \t", 2), line.size());
  return line.substr(begin, line.find_first_of(" \t", begin) - begin);
}

}  // namespace

std::string explain_failed_exec(const std::string& path, int error) {
  std::string interpreter = interpreter_of(path);
  if (interpreter.ends_with('\r') && error == ENOENT) {
    interpreter.pop_back();
    return fmt::format(
        "its lines end in carriage returns, so that its interpreter would be '{}\\r'; sed -i 's/\\r$//' "
        "mends it",
        clean_text(interpreter, terminal_charset()));
  }
  if (!interpreter.empty() && (error == ENOENT || error == EACCES)) {
    const std::string shown = clean_text(interpreter, terminal_charset());
    if (access(interpreter.c_str(), F_OK) != 0) {
      return fmt::format("its first line names the interpreter {}, which is not there", shown);
    }
    return fmt::format("its first line names the interpreter {}, which cannot be run ({})", shown,
                       std::strerror(error));
  }
  if (error == ENOENT && access(path.c_str(), F_OK) == 0) {
    return "the loader that it names is not there: is it built for another system?";
  }
  return std::strerror(error);
}

}  // namespace tidemark::viewer
