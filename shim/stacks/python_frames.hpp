// The Python frames of the calling thread, where they may be looked at: only while it holds the GIL. It isn't waited
// for, since who holds it may wait for this thread.
//
// Calls Python's C API, but never Python code: the garbage collector, which could run some, is off meanwhile (frames
// become objects when they are asked for, from 3.11 on), no reference is kept or was the last, a pending exception is
// what it was before. May take Python's own memory; takes no lock. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shim/stacks/python_functions.hpp"
#include "shim/stacks/python_texts.hpp"

namespace tidemark::stacks {

enum class PythonOutcome : std::uint8_t {
  Taken,        // all of them, also if there are none
  Full,         // there are more than `frames` holds
  Foreign,      // no thread of Python's
  WithoutGil,   // one that has let go of the GIL: most libraries do for a call into a driver
  Unsupported,  // before 3.12 another interpreter than the main one; older than 3.8; without a GIL
  Finalizing,
  Unloaded,  // the interpreter is gone
};

struct PythonWalk {
  std::size_t frames = 0;
  PythonOutcome outcome = PythonOutcome::Taken;
};

// The innermost first.
[[nodiscard]] PythonWalk capture_python(const PythonFunctions& python, PythonTexts& texts,
                                        std::span<history::PythonFrame> frames) noexcept;

}  // namespace tidemark::stacks
