// Signals that wait while this lives, for this thread and for those that are started meanwhile.
#pragma once

#include <csignal>
#include <initializer_list>

namespace tidemark::viewer {

class BlockedSignals {
 public:
  BlockedSignals(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) {
      sigaddset(&set, signal);
    }
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Around the start of a thread: signals are other threads' business. But a crash in this one has to put the terminal
  // back, too, and a signal of a thread's own doing that is blocked ends the program without asking its handler.
  [[nodiscard]] static BlockedSignals but_crashes() { return {}; }

 private:
  BlockedSignals() {
    sigset_t set;
    sigfillset(&set);
    for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      sigdelset(&set, crash);
    }
    pthread_sigmask(SIG_SETMASK, &set, &before_);
  }

  sigset_t before_{};
};

}  // namespace tidemark::viewer
