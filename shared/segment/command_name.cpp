#include "shared/segment/command_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidemark::segment {
namespace {

// For each interpreter: options that take the next argument, options that name the program (shown with what they name)
// and options that hold the program's text (shown alone).
struct Interpreter {
  std::string_view name;  // without a version: python stands for python3.11
  std::string_view value_options;
  std::string_view naming_options;
  std::string_view text_options;
};

constexpr std::array kInterpreters = {
    Interpreter{"python", "-W -X --check-hash-based-pycs", "-m", "-c"},
    Interpreter{"pypy", "-W -X", "-m", "-c"},
    Interpreter{"perl", "", "", "-e -E"},
    Interpreter{"ruby", "-r -I", "", "-e"},
    Interpreter{"node", "-r --require --import", "", "-e -p --eval --print"},
    Interpreter{"nodejs", "-r --require --import", "", "-e -p --eval --print"},
    Interpreter{"java", "-cp -classpath --class-path -p --module-path", "-jar -m", ""},
    Interpreter{"julia", "-p -t -J -L", "", "-e -E"},
    Interpreter{"lua", "-l", "", "-e"},
    Interpreter{"luajit", "-l", "", "-e"},
    Interpreter{"php", "-d -c", "-f", "-r"},
    Interpreter{"Rscript", "", "", "-e"},
    Interpreter{"bash", "-o -O", "", "-c"},
    Interpreter{"sh", "-o", "", "-c"},
    Interpreter{"dash", "-o", "", "-c"},
    Interpreter{"zsh", "-o", "", "-c"},
};

std::string_view next_argument(std::string_view& arguments) {
  const std::size_t end = std::min(arguments.find('\0'), arguments.size());
  const std::string_view argument = arguments.substr(0, end);
  arguments.remove_prefix(std::min(end + 1, arguments.size()));
  return argument;
}

std::string_view basename_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_in_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) {
      return true;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

const Interpreter* find_interpreter(std::string_view name) {
  while (!name.empty() && ((name.back() >= '0' && name.back() <= '9') || name.back() == '.' || name.back() == '-')) {
    name.remove_suffix(1);
  }
  const auto found = std::ranges::find(kInterpreters, name, &Interpreter::name);
  return found == kInterpreters.end() ? nullptr : &*found;
}

class CommandBuilder {
 public:
  void add(std::string_view word) {
    if (length_ != 0 && length_ < bytes_.size()) {
      bytes_[length_++] = ' ';
    }
    for (const char c : word.substr(0, bytes_.size() - length_)) {
      bytes_[length_++] = c;
    }
  }
  [[nodiscard]] CommandText text() const { return std::string_view{bytes_.data(), length_}; }

 private:
  std::array<char, 256> bytes_{};
  std::size_t length_ = 0;
};

void add_script(CommandBuilder& command, const Interpreter& interpreter, std::string_view arguments) {
  while (!arguments.empty()) {
    const std::string_view argument = next_argument(arguments);
    if (is_in_list(interpreter.text_options, argument)) {
      command.add(argument);
      return;
    }
    if (is_in_list(interpreter.naming_options, argument)) {
      command.add(argument);
      command.add(basename_of(next_argument(arguments)));
      return;
    }
    if (is_in_list(interpreter.value_options, argument)) {
      next_argument(arguments);
    } else if (!argument.starts_with('-')) {
      command.add(basename_of(argument));
      return;
    }
  }
}

}  // namespace

CommandText command_name(std::string_view arguments, std::string_view executable) noexcept {
  std::string_view rest = arguments;
  std::string_view name = basename_of(next_argument(rest));
  if (name.starts_with('-')) {
    name.remove_prefix(1);  // a login shell
  }
  if (name.empty()) {
    name = executable;
  }
  CommandBuilder command;
  command.add(name);
  if (const Interpreter* interpreter = find_interpreter(name)) {
    add_script(command, *interpreter, rest);
  }
  return command.text();
}

}  // namespace tidemark::segment
