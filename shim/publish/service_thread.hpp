// The threads of ours in the program: one that answers viewers and beats once a second, and makes no driver call; and
// one for as long as memory is given back outside the program's calls (on MTIA; on CUDA where a viewer insists).
#pragma once

#include <cstdint>

namespace tidemark::publish {

// What the thread does, over and over, until the program's last thread has ended; it is never joined.
class ServiceWork {
 public:
  virtual ~ServiceWork() = default;
  virtual void serve_once() noexcept = 0;
};

// Detached, with all signals blocked (the program may rely on who gets them) and a small stack. False: none could be
// made.
[[nodiscard]] bool start_thread(void* (*start)(void*), void* argument) noexcept;

// False: the program's own calls then do the work now and then. Requires: `work` outlives the process.
[[nodiscard]] bool start_service_thread(ServiceWork& work) noexcept;

}  // namespace tidemark::publish
