// Signals while the terminal is ours: some are noted for the loop to leave by; before any other that ends the program
// does so, a crash or SIGUSR1, the terminal is put back. Everything here that runs in a handler is async-signal-safe.
#pragma once

namespace tidemark::viewer::rescue {

// Handlers on; each signal also writes a byte to `wake_fd`. Before curses starts, which keeps its hands off what is
// handled already.
void install(int wake_fd);
// Curses is on: from now on there is something to put back.
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
