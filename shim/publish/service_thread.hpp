// The one thread of ours in the program: answers viewers and beats once a second. It makes no CUDA driver call unless
// a viewer insists (`empty-cache --now`) and no collective library is loaded.
#pragma once

#include <cstdint>

namespace tidemark::publish {

// What the thread does, over and over, until the program's last thread has ended; it is never joined.
class ServiceWork {
 public:
  virtual ~ServiceWork() = default;
  virtual void serve_once() noexcept = 0;
};

// With all signals blocked (the program may rely on who gets them) and a small stack. False: no thread could be made;
// the program's own calls then do the work now and then. Requires: `work` outlives the process.
[[nodiscard]] bool start_service_thread(ServiceWork& work) noexcept;

}  // namespace tidemark::publish
