// Signals while the terminal is ours: noted for the loop to leave by, and after a crash the terminal is put back before
// the program dies. Everything here that runs in a handler is async-signal-safe.
#pragma once

namespace tidemark::viewer::rescue {

// Handlers on; each signal also writes a byte to `wake_fd`. Before curses starts, which keeps its hands off what is
// handled already.
void install(int wake_fd);
// Curses is on: from now on a crash has something to put back.
void arm();
// Handlers as they were.
void uninstall();

// SIGINT, SIGTERM, SIGHUP, SIGQUIT; 0: none came.
[[nodiscard]] int ending_signal();
// The terminal is gone, which counts as SIGHUP.
void note_hangup();
// Has the program been continued since the last call?
[[nodiscard]] bool take_resumed();

}  // namespace tidemark::viewer::rescue
