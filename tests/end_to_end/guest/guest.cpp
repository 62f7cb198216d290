// A program that has never heard of Tidemark and does with device memory what it is told: one command a line on stdin,
// one answer a line on stdout. So a test decides what it holds, and when, without a sleep.
//
//   alloc SIZE             "ok SLOT ADDRESS" or "error CODE"
//   alloc-null             the code for a NULL out-parameter
//   free SLOT              the code
//   free-in SLOT OFFSET    the code of freeing an interior address; free-at ADDRESS: of a pointer that the test made up
//   pairs COUNT SIZE       allocates and frees in a loop: failures; threads N COUNT SIZE: the same in N threads
//   churn N                N threads allocate and free as fast as they can: "running"; until the next line: failures
//   free-async SLOT        the code of freeing it in the default stream's order;
//                          ipc SLOT: of asking for a handle; card SLOT WAY: of leaving it to a network card
//   hello                  "hello": once its own code runs
//   info                   "FREE TOTAL"
//   device N, reset, sync  the code
//   green N, end-green     the code of working in a green context of device N, and of destroying it
//   fill SLOT BYTE SIZE    starts work on a stream: the code
//   hold                   starts work that keeps the device busy until `let-go`: the code
//   write SLOT BYTE SIZE   the code
//   read SLOT SIZE         "BYTE COUNT": the first byte and how many bytes are equal to it
//   load PATH              opens a library for good: 0 if it could
//   at-exit                frees all slots in a static destructor
//   fork, clone            the child takes over ("child PID"); when it ends, the parent does ("child ended STATUS")
//   spawn CMD.., vfork CMD.., exec CMD..   its exit code; the last becomes it
//   user UID, root PATH    becomes that user for good (every thread), takes another root directory: the code
//   exit CODE, _exit CODE, abort
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <random>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/guest/guest_device.hpp"

namespace {

std::vector<void*> slots;
bool frees_at_exit = false;

// As a global object of a program does: after main, before or after anything else that is registered for the end.
struct FreesAtExit {
  FreesAtExit() = default;
  FreesAtExit(const FreesAtExit&) = delete;
  FreesAtExit& operator=(const FreesAtExit&) = delete;
  ~FreesAtExit() {
    if (!frees_at_exit) return;
    int failures = 0;
    for (void* ptr : slots) failures += guest::release(ptr) != 0;
    std::printf("freed %zu at exit, %d failed\n", slots.size(), failures);
    std::fflush(stdout);
  }
} at_exit;

std::binary_semaphore may_go_on{0};
void wait_to_be_let_go(void*) { may_go_on.acquire(); }

using Words = std::vector<std::string>;

// Byte by byte, so that nothing meant for a child or a program in our place is taken.
bool read_line(std::string& line) {
  line.clear();
  char c = 0;
  while (::read(0, &c, 1) == 1) {
    if (c == '\n') return true;
    line += c;
  }
  return false;
}

Words split(const std::string& line) {
  Words words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::size_t number(const Words& words, std::size_t at) { return std::strtoull(words.at(at).c_str(), nullptr, 0); }
void* slot(const Words& words) { return slots.at(number(words, 1)); }

__attribute__((format(printf, 1, 2))) void answer(const char* form, ...) {
  std::va_list arguments;
  va_start(arguments, form);
  std::vprintf(form, arguments);
  va_end(arguments);
  std::putchar('\n');
  std::fflush(stdout);
}

void allocate(std::size_t size) {
  void* ptr = nullptr;
  if (const int code = guest::allocate(&ptr, size); code != 0) return answer("error %d", code);
  slots.push_back(ptr);
  answer("ok %zu %p", slots.size() - 1, ptr);
}

int failed_pairs(std::size_t count, std::size_t size) {
  int failures = 0;
  for (std::size_t i = 0; i < count; ++i) {
    void* ptr = nullptr;
    failures += guest::allocate(&ptr, size) != 0 || guest::release(ptr) != 0;
  }
  return failures;
}

int failed_pairs_in_threads(std::size_t threads, std::size_t count, std::size_t size) {
  std::vector<int> failures(threads);
  std::vector<std::thread> running;
  for (int& mine : failures) running.emplace_back([&mine, count, size] { mine = failed_pairs(count, size); });
  for (std::thread& thread : running) thread.join();
  int sum = 0;
  for (const int mine : failures) sum += mine;
  return sum;
}

// Blocks of all sizes, a few dozen held at a time, freed in another order than they came.
int failed_churn(const std::atomic<bool>& stopping, unsigned seed) {
  constexpr std::size_t kSizes[] = {1, 700, 4096, 100'000, 1 << 20, 3 << 20, 5'000'000, 600};
  std::minstd_rand random{seed};
  std::vector<void*> held(32);
  int failures = 0;
  while (!stopping) {
    void*& ptr = held[random() % held.size()];
    if (ptr != nullptr) {
      failures += guest::release(ptr) != 0;
      ptr = nullptr;
    } else {
      failures += guest::allocate(&ptr, kSizes[random() % std::size(kSizes)]) != 0;
    }
  }
  for (void* ptr : held) failures += ptr != nullptr && guest::release(ptr) != 0;
  return failures;
}

void churn(std::size_t threads) {
  std::atomic<bool> stopping{false};
  std::vector<int> failures(threads);
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] { failures[i] = failed_churn(stopping, static_cast<unsigned>(i) + 1); });
  }
  answer("running");
  std::string line;
  read_line(line);
  stopping = true;
  for (std::thread& thread : running) thread.join();
  answer("%d", std::accumulate(failures.begin(), failures.end(), 0));
}

void read_back(const void* ptr, std::size_t size) {
  std::vector<unsigned char> bytes(size);
  if (const int code = guest::read(bytes.data(), ptr, size); code != 0) return answer("error %d", code);
  answer("%d %td", bytes.front(), std::count(bytes.begin(), bytes.end(), bytes.front()));
}

int write_bytes(void* ptr, std::size_t value, std::size_t size) {
  const std::vector<unsigned char> bytes(size, static_cast<unsigned char>(value));
  return guest::write(ptr, bytes.data(), size);
}

std::vector<char*> arguments_of(const Words& words) {
  std::vector<char*> arguments;
  for (std::size_t i = 1; i < words.size(); ++i) arguments.push_back(const_cast<char*>(words[i].c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

int exit_code_of(pid_t pid) {
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int spawn(const Words& words) {
  const std::vector<char*> arguments = arguments_of(words);
  pid_t pid = -1;
  if (posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  return exit_code_of(pid);
}

int vfork_and_exec(const Words& words) {
  const std::vector<char*> arguments = arguments_of(words);
  const pid_t pid = vfork();
  if (pid == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  return exit_code_of(pid);
}

void hand_over_to(pid_t pid) {
  if (pid == 0) return answer("child %d", static_cast<int>(getpid()));
  answer("child ended %d", exit_code_of(pid));
}

void obey_process_command(const Words& words) {
  const std::string& command = words.front();
  if (command == "fork") return hand_over_to(fork());
  // The same past libc, which then runs no handler of pthread_atfork.
  if (command == "clone") {
    return hand_over_to(static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)));
  }
  if (command == "spawn") return answer("%d", spawn(words));
  if (command == "vfork") return answer("%d", vfork_and_exec(words));
  if (command == "exec") {
    execvp(words.at(1).c_str(), arguments_of(words).data());
    return answer("not executed");
  }
  if (command == "user") return answer("%d", setuid(static_cast<uid_t>(number(words, 1))));
  if (command == "root") return answer("%d", chroot(words.at(1).c_str()));
  if (command == "exit") std::exit(static_cast<int>(number(words, 1)));
  if (command == "_exit") _exit(static_cast<int>(number(words, 1)));
  if (command == "abort") std::abort();
  answer("unknown command");
}

void obey(const Words& words) {
  const std::string& command = words.front();
  if (command == "alloc") return allocate(number(words, 1));
  if (command == "alloc-null") return answer("%d", guest::allocate(nullptr, 512));
  if (command == "free") return answer("%d", guest::release(slot(words)));
  if (command == "free-async") return answer("%d", guest::release_in_stream(slot(words)));
  if (command == "card") {
    return answer("%d", guest::leave_to_card(slot(words), static_cast<guest::CardsWay>(number(words, 2))));
  }
  if (command == "ipc") return answer("%d", guest::ipc_handle(slot(words)));
  if (command == "free-in") return answer("%d", guest::release(static_cast<char*>(slot(words)) + number(words, 2)));
  if (command == "free-at") return answer("%d", guest::release(reinterpret_cast<void*>(number(words, 1))));
  if (command == "pairs") return answer("%d", failed_pairs(number(words, 1), number(words, 2)));
  if (command == "threads") {
    return answer("%d", failed_pairs_in_threads(number(words, 1), number(words, 2), number(words, 3)));
  }
  if (command == "churn") return churn(number(words, 1));
  if (command == "hello") return answer("hello");
  if (command == "info") {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    const int code = guest::memory_info(&free_bytes, &total_bytes);
    return code == 0 ? answer("%zu %zu", free_bytes, total_bytes) : answer("error %d", code);
  }
  if (command == "device") return answer("%d", guest::set_device(static_cast<int>(number(words, 1))));
  if (command == "green") return answer("%d", guest::enter_green_context(static_cast<int>(number(words, 1))));
  if (command == "end-green") return answer("%d", guest::end_green_context());
  if (command == "reset") return answer("%d", guest::reset_device());
  if (command == "sync") return answer("%d", guest::synchronize());
  if (command == "load") return answer("%d", dlopen(words.at(1).c_str(), RTLD_NOW) == nullptr);
  if (command == "fill") {
    return answer("%d", guest::fill_later(slot(words), static_cast<unsigned char>(number(words, 2)), number(words, 3)));
  }
  if (command == "hold") return answer("%d", guest::call_later(&wait_to_be_let_go));
  if (command == "let-go") {
    may_go_on.release();
    return answer("0");
  }
  if (command == "write") return answer("%d", write_bytes(slot(words), number(words, 2), number(words, 3)));
  if (command == "read") return read_back(slot(words), number(words, 2));
  if (command == "at-exit") {
    frees_at_exit = true;
    return answer("0");
  }
  obey_process_command(words);
}

}  // namespace

int main() {
  std::string line;
  while (read_line(line)) {
    try {
      if (const Words words = split(line); !words.empty()) obey(words);
    } catch (const std::out_of_range&) {
      answer("no such slot or argument");
    }
  }
}
