#include "simulator/core/shared_capacity.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace sim {
namespace {

constexpr std::uint64_t kMagic = 0x31306d6973657264;  // "dresim01"

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ < 0) return;
    // A mapping keeps the open file, and with it flock, past close().
    flock(fd_, LOCK_UN);
    close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// Field 22 of /proc/PID/stat, in clock ticks since boot; 0 if there is no such process or it is a zombie. Field 2 is in
// parentheses and may hold anything, so fields are counted from its last ')'.
std::uint64_t start_time_of(pid_t pid) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const File file{open(path.data(), O_RDONLY | O_CLOEXEC)};
  if (file.fd() < 0) return 0;
  std::array<char, 1024> text{};
  if (read(file.fd(), text.data(), text.size() - 1) <= 0) return 0;
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || std::strncmp(at, ") Z", 3) == 0) return 0;
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  unsigned long long start = 0;
  return at != nullptr && std::sscanf(at, "%llu", &start) == 1 ? start : 0;
}

// Opens or makes the file and holds flock on it. A file that was removed between open and flock is opened anew.
int open_locked(const std::string& path, bool create) {
  for (;;) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
    if (fd < 0) return -1;
    struct stat status {};
    int locked = 0;
    while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (locked == 0 && fstat(fd, &status) == 0 && status.st_nlink > 0) return fd;
    const int reason = errno;
    close(fd);
    if (locked != 0) {
      errno = reason;
      return -1;
    }
  }
}

}  // namespace

struct SharedCapacity::Table {
  struct Entry {
    std::int64_t pid = 0;  // 0: free
    std::uint64_t started = 0;
    std::array<std::uint64_t, kMostSharedDevices> used{};

    [[nodiscard]] bool is_dead() const {
      if (pid == 0) return false;
      const auto process = static_cast<pid_t>(pid);
      return (kill(process, 0) != 0 && errno == ESRCH) || start_time_of(process) != started;
    }
  };

  std::uint64_t magic = 0;
  pthread_mutex_t mutex{};
  std::array<Entry, kMostSharingProcesses> entries{};

  // Requires: flock is held, all bytes are zero.
  void initialise() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    magic = kMagic;
  }

  bool lock() {
    const int result = pthread_mutex_lock(&mutex);
    // Every entry is right at every instant (single words, written once), so the dead owner left nothing half done.
    if (result == EOWNERDEAD) pthread_mutex_consistent(&mutex);
    return result == 0 || result == EOWNERDEAD;
  }
  void unlock() { pthread_mutex_unlock(&mutex); }

  bool sweep_is_empty() {
    bool empty = true;
    for (Entry& entry : entries) {
      if (entry.is_dead()) entry = Entry{};
      empty = empty && entry.pid == 0;
    }
    return empty;
  }

  static void unmap(Table* table) { munmap(table, sizeof(Table)); }
};

std::unique_ptr<SharedCapacity> SharedCapacity::join(const std::string& file, std::string& why) {
  if (file.empty() || file.size() > 200 || file.find('/') != std::string::npos) {
    why = "the name must have 1 to 200 characters and no '/'";
    return nullptr;
  }
  const std::string path = "/dev/shm/" + file;
  const auto refuse = [&why, &path](const char* what) {
    why = path + ": " + what;
    return nullptr;
  };
  const File opened{open_locked(path, true)};
  if (opened.fd() < 0) return refuse(std::strerror(errno));
  struct stat status {};
  if (fstat(opened.fd(), &status) != 0) return refuse(std::strerror(errno));
  if (status.st_size == 0) {
    if (int failure = posix_fallocate(opened.fd(), 0, sizeof(Table)); failure != 0) {
      unlink(path.c_str());
      return refuse(std::strerror(failure));
    }
  } else if (status.st_size != sizeof(Table)) {
    return refuse("not a table of shared capacity");
  }
  void* mapped = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, opened.fd(), 0);
  if (mapped == MAP_FAILED) return refuse(std::strerror(errno));
  madvise(mapped, sizeof(Table), MADV_DONTFORK);
  auto* table = static_cast<Table*>(mapped);
  if (table->magic == 0) table->initialise();  // new, or its maker died here
  if (table->magic != kMagic || !table->lock()) {
    Table::unmap(table);
    return refuse("not a table of shared capacity");
  }
  table->sweep_is_empty();
  int entry = 0;
  while (entry < kMostSharingProcesses && table->entries[static_cast<std::size_t>(entry)].pid != 0) ++entry;
  if (entry < kMostSharingProcesses) {
    Table::Entry& mine = table->entries[static_cast<std::size_t>(entry)];
    mine.started = start_time_of(getpid());
    mine.pid = getpid();
  }
  table->unlock();
  if (entry == kMostSharingProcesses) {
    Table::unmap(table);
    return refuse("too many processes");
  }
  return std::unique_ptr<SharedCapacity>{new SharedCapacity{path, status.st_ino, table, entry}};
}

SharedCapacity::SharedCapacity(std::string path, std::uint64_t inode, Table* table, int entry)
    : path_(std::move(path)), inode_(inode), table_(table), entry_(static_cast<std::size_t>(entry)) {}

SharedCapacity::~SharedCapacity() { leave(); }

std::uint64_t SharedCapacity::sum_and_sweep(std::size_t device) {
  std::uint64_t sum = 0;
  for (Table::Entry& entry : table_->entries) {
    if (entry.pid == 0 || entry.used[device] == 0) continue;
    if (&entry != &table_->entries[entry_] && entry.is_dead()) {
      entry = Table::Entry{};
    } else {
      sum += entry.used[device];
    }
  }
  return sum;
}

bool SharedCapacity::charge(int device, std::uint64_t bytes, std::uint64_t capacity) {
  const std::lock_guard guard{mutex_};
  if (table_ == nullptr || !table_->lock()) return true;
  const auto at = static_cast<std::size_t>(device);
  const std::uint64_t used = sum_and_sweep(at);
  const bool fits = used <= capacity && bytes <= capacity - used;
  if (fits) table_->entries[entry_].used[at] += bytes;
  table_->unlock();
  return fits;
}

void SharedCapacity::discharge(int device, std::uint64_t bytes) {
  const std::lock_guard guard{mutex_};
  if (table_ == nullptr || !table_->lock()) return;
  std::uint64_t& used = table_->entries[entry_].used[static_cast<std::size_t>(device)];
  used -= bytes < used ? bytes : used;
  table_->unlock();
}

std::uint64_t SharedCapacity::used(int device) {
  const std::lock_guard guard{mutex_};
  if (table_ == nullptr || !table_->lock()) return 0;
  const std::uint64_t sum = sum_and_sweep(static_cast<std::size_t>(device));
  table_->unlock();
  return sum;
}

bool SharedCapacity::is_joined() {
  const std::lock_guard guard{mutex_};
  return table_ != nullptr;
}

void SharedCapacity::leave() {
  const std::lock_guard guard{mutex_};
  if (table_ == nullptr) return;
  const File opened{open_locked(path_, false)};
  if (table_->lock()) {
    table_->entries[entry_] = Table::Entry{};
    const bool last = table_->sweep_is_empty();
    table_->unlock();
    // Somebody may have removed the file by hand and others share a new one of that name.
    struct stat status {};
    if (last && fstat(opened.fd(), &status) == 0 && status.st_ino == inode_) unlink(path_.c_str());
  }
  Table::unmap(table_);
  table_ = nullptr;
}

}  // namespace sim
