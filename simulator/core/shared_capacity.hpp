// The use of devices' memory added up over processes: what makes several of them share one simulated card.
//
// A file in /dev/shm holds one entry a process: pid, start time, bytes used per device. A robust process-shared mutex
// guards it, so a participant killed inside leaves no lock behind; entries of dead processes (no such pid, or another
// start time) are cleared when met. Joining and leaving hold flock on the file, so nobody joins a file that the last
// one is removing. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace sim {

inline constexpr int kMostSharedDevices = 64;
inline constexpr int kMostSharingProcesses = 128;

class SharedCapacity {
 public:
  // `file`: a name in /dev/shm without a slash. nullptr, and the reason in `why`, if it can't be joined.
  static std::unique_ptr<SharedCapacity> join(const std::string& file, std::string& why);
  SharedCapacity(const SharedCapacity&) = delete;
  SharedCapacity& operator=(const SharedCapacity&) = delete;
  ~SharedCapacity();

  // False if the device's total over all processes would pass `capacity`.
  bool charge(int device, std::uint64_t bytes, std::uint64_t capacity);
  void discharge(int device, std::uint64_t bytes);
  // Over all live processes, this one included.
  [[nodiscard]] std::uint64_t used(int device);

  // False after leave().
  [[nodiscard]] bool is_joined();

  // Gives up this process's entry; the last one removes the file. Afterwards charge() always succeeds and used() is 0.
  void leave();

 private:
  struct Table;
  SharedCapacity(std::string path, std::uint64_t inode, Table* table, int entry);
  [[nodiscard]] std::uint64_t sum_and_sweep(std::size_t device);

  const std::string path_;
  const std::uint64_t inode_;
  std::mutex mutex_;  // guards table_ against leave()
  Table* table_;
  const std::size_t entry_;
};

}  // namespace sim
