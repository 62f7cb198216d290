#include "shim/stacks/python_frames.hpp"

#include "shim/stacks/python_reference.hpp"

namespace tidemark::stacks {
namespace {

// An exception that is on its way stays out of sight: the calls below mustn't see it, and may set their own.
class ExceptionAside {
 public:
  explicit ExceptionAside(const PythonFunctions& python) noexcept
      : python_(python), pending_(python.PyErr_Occurred() != nullptr) {
    if (pending_) {
      python_.PyErr_Fetch(&type_, &value_, &traceback_);
    }
  }
  ~ExceptionAside() {
    if (pending_) {
      python_.PyErr_Restore(type_, value_, traceback_);  // drops what was set meanwhile
    } else if (python_.PyErr_Occurred() != nullptr) {
      python_.PyErr_Clear();
    }
  }
  ExceptionAside(const ExceptionAside&) = delete;
  ExceptionAside& operator=(const ExceptionAside&) = delete;

 private:
  const PythonFunctions& python_;
  bool pending_;
  PythonObject* type_ = nullptr;
  PythonObject* value_ = nullptr;
  PythonObject* traceback_ = nullptr;
};

// 3.8 and 3.9 can't turn it off, and don't need it: their frames are objects already.
class CollectorOff {
 public:
  explicit CollectorOff(const PythonFunctions& python) noexcept
      : python_(python), was_on_(python.PyGC_Disable != nullptr && python.PyGC_Disable() != 0) {}
  ~CollectorOff() {
    if (was_on_ && python_.PyGC_Enable != nullptr) {
      python_.PyGC_Enable();
    }
  }
  CollectorOff(const CollectorOff&) = delete;
  CollectorOff& operator=(const CollectorOff&) = delete;

 private:
  const PythonFunctions& python_;
  bool was_on_;
};

// A new reference; 3.8 has these as attributes only.
PythonObject* code_of(const PythonFunctions& python, PythonObject* frame) noexcept {
  return python.PyFrame_GetCode != nullptr ? python.PyFrame_GetCode(frame)
                                           : python.PyObject_GetAttrString(frame, "f_code");
}

PythonObject* caller_of(const PythonFunctions& python, PythonObject* frame) noexcept {
  if (python.PyFrame_GetBack != nullptr) {
    return python.PyFrame_GetBack(frame);
  }
  PythonObject* const back = python.PyObject_GetAttrString(frame, "f_back");
  if (back == nullptr) {
    return nullptr;
  }
  const PythonReference owned{python, back};
  const PythonReference code{python,
                             python.PyObject_GetAttrString(back, "f_code")};  // the outermost's is None, which has none
  if (code.get() == nullptr) {
    python.PyErr_Clear();
    return nullptr;
  }
  python.Py_IncRef(back);
  return back;
}

PythonOutcome obstacle(const PythonFunctions& python) noexcept {
  if (!python.are_loaded()) {
    return PythonOutcome::Unloaded;
  }
  // PyGILState_Check alone is not enough: it says yes where it doesn't know (before the interpreter starts, after it
  // ended, with sub-interpreters).
  const PythonThread* const mine = python.PyGILState_GetThisThreadState();
  if (mine == nullptr) {
    return PythonOutcome::Foreign;
  }
  if (!python.can_be_walked) {
    return PythonOutcome::Unsupported;
  }
  const PythonThread* const running = python.running_thread();
  if (python.PyGILState_Check() == 0 || running == nullptr) {
    return PythonOutcome::WithoutGil;
  }
  if (running != mine) {
    return PythonOutcome::Unsupported;
  }
  return python.is_finalizing() ? PythonOutcome::Finalizing : PythonOutcome::Taken;
}

}  // namespace

PythonWalk capture_python(const PythonFunctions& python, PythonTexts& texts,
                          std::span<history::PythonFrame> frames) noexcept {
  PythonWalk walk{.frames = 0, .outcome = obstacle(python)};
  if (walk.outcome != PythonOutcome::Taken) {
    return walk;
  }
  const CollectorOff collector{python};
  const ExceptionAside exception{python};
  PythonObject* const innermost = python.PyEval_GetFrame();
  if (innermost == nullptr) {
    return walk;
  }
  python.Py_IncRef(innermost);
  PythonReference frame{python, innermost};
  while (frame.get() != nullptr) {
    if (walk.frames == frames.size()) {
      walk.outcome = PythonOutcome::Full;
      break;
    }
    const PythonReference code{python, code_of(python, frame.get())};
    const int line = python.PyFrame_GetLineNumber(frame.get());
    history::PythonFrame& kept = frames[walk.frames++];
    kept = code.get() == nullptr ? history::PythonFrame{} : texts.frame_of(python, code.get());
    kept.line = line < 0 ? 0 : static_cast<std::uint32_t>(line);
    frame.reset(caller_of(python, frame.get()));
  }
  return walk;
}

}  // namespace tidemark::stacks
