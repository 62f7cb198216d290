// Runtime: what else is in the process, and what follows from it while the program runs.
#include <mutex>

#include "shim/hook/object_list.hpp"
#include "shim/runtime/log.hpp"
#include "shim/runtime/runtime.hpp"
#include "shim/runtime/situation.hpp"

namespace tidemark::runtime {

bool Runtime::is_counting() const noexcept {
  return options_.mode == Mode::Count || (!options_.is_mode_set && !situation_.allows_cache());
}

// Requires: mutex_. Only inside the program's calls: the loader's lock, which this takes, must not be held by a thread
// of ours while the program forks.
void Runtime::look_around() noexcept {
  is_look_due_.store(false, std::memory_order_relaxed);
  const std::uint64_t loads = count_of_loads();
  if (loads == situation_loads_) {
    return;
  }
  situation_loads_ = loads;
  hook::ObjectList::hold_still([&](const hook::ObjectList& objects) {
    const Situation seen = runtime::look_around(objects, pool_switches_);
    situation_.inner_pool = seen.inner_pool;
    if (situation_.allows_cache()) {  // a change to counting is for good
      situation_.count_only = seen.count_only;
    }
  });
  if (situation_.inner_pool != applied_pool_) {
    applied_pool_ = situation_.inner_pool;
    publisher_.set_inner_pool(applied_pool_);
  }
  if (is_counting() && !is_counting_applied_) {
    is_counting_applied_ = true;
    publisher_.set_mode(segment::ProcessMode::Count, situation_.count_only.data());
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      place(i).cache().set_mode(DeviceMode::Count);
    }
    if (is_visible_.load(std::memory_order_relaxed)) {  // else start() says the mode, when there is something to say
      log_line(LogLevel::Info, "memory is only counted: %s", situation_.count_only.data());
    }
  }
}

// Libraries come while a program runs: most are imported after its first allocation.
void Runtime::look_around_again() noexcept {
  if (mutex_.try_lock()) {  // else a device is being met, which looks around itself
    const std::lock_guard lock{mutex_, std::adopt_lock};
    look_around();
  }
}

}  // namespace tidemark::runtime
