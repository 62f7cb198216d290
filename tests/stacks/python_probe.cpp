// A library as Python loads them, which takes the Python frames of whoever calls it. Results are the outcome's number.
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>

#include "shim/hook/loaded_object.hpp"
#include "shim/stacks/python_frames.hpp"
#include "shim/stacks/stack_keeper.hpp"
#include "tests/stacks/kept_tables.hpp"

#define TIDEMARK_EXPORT extern "C" __attribute__((visibility("default")))

namespace tidemark::stacks {
namespace {

constinit PythonFunctions python;

test::KeptTables& kept() {
  static test::KeptTables kept;
  return kept;
}
PythonTexts& texts() {
  static PythonTexts texts{kept().tables()};
  return texts;
}

// One line a frame: line, name, file, with tabs between.
std::string text_of(const history::Stack& stack) {
  std::string text;
  for (const history::PythonFrameText& frame : stack.python) {
    text += std::to_string(frame.line) + '\t' + frame.name + '\t' + frame.file + '\n';
  }
  return text;
}

}  // namespace
}  // namespace tidemark::stacks

using namespace tidemark;          // NOLINT(google-build-using-namespace)
using namespace tidemark::stacks;  // NOLINT(google-build-using-namespace)

TIDEMARK_EXPORT int probe_find() {
  const link_map* const interpreter = hook::object_of(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
  return interpreter != nullptr && find_python_in(*interpreter, python) ? 1 : 0;
}

// As with 3.8, whose frames have attributes only.
TIDEMARK_EXPORT void probe_forget_newer_functions() {
  python.PyFrame_GetBack = nullptr;
  python.PyFrame_GetCode = nullptr;
  python.PyGC_Disable = nullptr;
}

TIDEMARK_EXPORT int probe_take(char* into, std::size_t bytes) {
  std::array<history::PythonFrame, 32> frames;
  const PythonWalk walk = capture_python(python, texts(), frames);
  const auto stack = kept().tables().intern_stack({.python = std::span{frames}.first(walk.frames)}, 1);
  std::snprintf(into, bytes, "%s", text_of(kept().read().stacks.at(stack.number)).c_str());
  return static_cast<int>(walk.outcome);
}

TIDEMARK_EXPORT int probe_take_often(int times) {
  std::array<history::PythonFrame, 32> frames;
  PythonWalk walk;
  for (int i = 0; i < times; ++i) {
    walk = capture_python(python, texts(), frames);
  }
  return static_cast<int>(walk.outcome);
}

TIDEMARK_EXPORT int probe_take_in_other_thread() {
  int outcome = -1;
  std::thread{[&] { outcome = probe_take_often(1); }}.join();
  return outcome;
}

// Raises what it set before, after having taken them; 100 more if the walk dropped it.
TIDEMARK_EXPORT int probe_take_with_exception() {
  reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyErr_BadArgument"))();
  const int outcome = probe_take_often(3);
  return python.PyErr_Occurred() == nullptr ? outcome + 100 : outcome;
}

// The kept stack's number; its native frames as "address", then Python's, and what the ends say.
TIDEMARK_EXPORT int probe_record(int native, int with_python, char* into, std::size_t bytes) {
  using history::Stacks;
  static StackKeeper none{kept().tables(), Stacks::None};
  static StackKeeper cpp{kept().tables(), Stacks::Cpp};
  static StackKeeper of_python{kept().tables(), Stacks::Python};
  static StackKeeper all{kept().tables(), Stacks::All};
  StackKeeper& keeper = native != 0 ? (with_python != 0 ? all : cpp) : (with_python != 0 ? of_python : none);
  keeper.ask_for_a_look();
  const history::StackId number = keeper.keep(1);
  const history::History history = kept().read();
  const history::Stack& stack = history.stacks.at(number);
  std::string text;
  for (std::size_t i = 0; i < stack.addresses.size(); ++i) {
    text += "address\n";
  }
  text += stack.end == history::StackEnd::Cut ? "more\n" : "";
  text += text_of(stack);
  text += stack.python_end == history::StackEnd::Cut ? "more\n" : "";
  std::snprintf(into, bytes, "%s%llu omitted", text.c_str(),
                static_cast<unsigned long long>(history.recording.python_omitted));
  return static_cast<int>(number);
}

TIDEMARK_EXPORT unsigned long long probe_kept() {
  const history::ProcessSizes used = kept().tables().used();
  return used.stacks + used.strings;
}
