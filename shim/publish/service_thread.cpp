#include "shim/publish/service_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace tidemark::publish {
namespace {

// Enough for a snapshot of counters and a few system calls; glibc takes the program's static TLS out of it as well,
// which is why a program with a lot of that gets a thread of the default size instead.
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

// The program's last thread is gone (main ended by pthread_exit): nobody would ever end the process but us. Told
// without opening a file: an exited main thread has no executable any more, and the task directory counts the threads.
bool is_alone() noexcept {
  char first = 0;
  struct stat tasks {};
  constexpr nlink_t kTwoThreads = 4;  // ".", "..", the exited main thread, this one
  return readlink("/proc/self/exe", &first, 1) < 0 && errno == ENOENT && stat("/proc/self/task", &tasks) == 0 &&
         tasks.st_nlink == kTwoThreads;
}

// Ends with the program; the last thread to end takes the process with it, as without us.
void* run(void* argument) noexcept {
  auto& work = *static_cast<ServiceWork*>(argument);
  do {
    work.serve_once();
  } while (!is_alone());
  return nullptr;
}

bool create(void* (*start)(void*), void* argument, std::size_t stack_bytes) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes != 0) {
    pthread_attr_setstacksize(&attributes, stack_bytes);
  }
  pthread_t thread{};
  const bool made = pthread_create(&thread, &attributes, start, argument) == 0;
  if (made) {
    pthread_setname_np(thread, "tidemark");
  }
  pthread_attr_destroy(&attributes);
  return made;
}

}  // namespace

bool start_thread(void* (*start)(void*), void* argument) noexcept {
  sigset_t all;
  sigset_t outer;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &outer) != 0) {  // the new thread inherits the mask
    return false;
  }
  const bool made = create(start, argument, kStackBytes) || create(start, argument, 0);
  pthread_sigmask(SIG_SETMASK, &outer, nullptr);
  return made;
}

bool start_service_thread(ServiceWork& work) noexcept { return start_thread(&run, &work); }

}  // namespace tidemark::publish
