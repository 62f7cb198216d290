// tidemark.h: other processes, and which devices a process has.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "client/library/failure.hpp"
#include "client/library/process_handle.hpp"

using tidemark::client::answered;
using tidemark::client::OtherProcess;
using tidemark::client::require;
using tidemark::client::subject_of;

namespace {

// Asked anew: a forked child has another, and before the first allocation there is none.
const tidemark::client::OwnIdentity& own_identity_for_thread() {
  thread_local tidemark::client::OwnIdentity identity{};
  (void)answered([] {
    identity = tidemark::client::OwnProcess::identity();
    return 0;
  });
  return identity;
}

}  // namespace

extern "C" {

int tidemark_open(const char* target, tidemark_process** out) {
  return answered([&] {
    require(out, "out");
    *out = nullptr;
    require(target, "target");
    auto made = std::make_unique<tidemark_process>();
    made->other = OtherProcess::open(target);
    *out = made.release();
    return int{TIDEMARK_OK};
  });
}

void tidemark_close(tidemark_process* process) { delete process; }

const char* tidemark_process_state(tidemark_process* process) {
  const int state = answered([&] {
    return process == nullptr ? static_cast<int>(tidemark::segment::ProcessState::Live)
                              : static_cast<int>(process->other->state());
  });
  return state < 0 ? "unreadable" : to_text(static_cast<tidemark::segment::ProcessState>(state));
}

int64_t tidemark_process_pid(tidemark_process* process) {
  return answered([&]() -> std::int64_t { return process == nullptr ? getpid() : process->other->pid(); });
}

const char* tidemark_process_id(tidemark_process* process) {
  return process == nullptr ? own_identity_for_thread().id.data() : process->other->identity().id.c_str();
}

const char* tidemark_process_label(tidemark_process* process) {
  return process == nullptr ? own_identity_for_thread().label.data() : process->other->identity().label.c_str();
}

int tidemark_process_device_count(tidemark_process* process) {
  return answered([&] { return static_cast<int>(subject_of(process).devices().size()); });
}

const char* tidemark_process_device(tidemark_process* process, int index) {
  thread_local std::array<char, 32> name_for_thread{};
  const int found = answered([&] {
    const auto devices = subject_of(process).devices();
    if (index < 0 || static_cast<std::size_t>(index) >= devices.size()) {
      return 0;
    }
    const std::string name = to_text(devices[static_cast<std::size_t>(index)]);
    name_for_thread.fill('\0');
    std::copy_n(name.begin(), std::min(name.size(), name_for_thread.size() - 1), name_for_thread.begin());
    return 1;
  });
  return found == 1 ? name_for_thread.data() : nullptr;
}

}  // extern "C"
