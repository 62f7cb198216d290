#include "viewer/history/address_names.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::viewer {
namespace {

// What stands where the calls further out are not known; nothing where there are none.
void add_end(Frames& frames, history::StackEnd end) {
  if (end == history::StackEnd::Cut) {
    frames.push_back({.name = std::string{kMoreCalls}});
  } else if (end == history::StackEnd::Lost) {
    frames.push_back({.name = std::string{kLostCalls}});
  }
}

}  // namespace

bool is_interpreter(const Frame& frame) {
  return frame.name.find("PyEval_EvalFrame") != std::string::npos || frame.name.starts_with("libpython3") ||
         frame.name.starts_with("python3");
}

Frames name_stack(const history::Stack& stack, AddressNames& names) {
  Frames native;
  for (const std::uint64_t address : stack.addresses) {
    for (Frame& frame : names.frames_at(address, stack.first_seen_ns)) {
      native.push_back(std::move(frame));
    }
  }
  add_end(native, stack.end);
  if (stack.python.empty()) {
    return native;
  }
  native.erase(std::find_if(native.begin(), native.end(), is_interpreter), native.end());
  for (const history::PythonFrameText& frame : stack.python) {
    native.push_back({.name = frame.name, .file = frame.file, .line = frame.line});
  }
  add_end(native, stack.python_end);
  return native;
}

}  // namespace tidemark::viewer
