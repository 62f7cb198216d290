// All simulated devices of one process: what a simulated driver is built upon.
//
//   sim::Machine& machine = *new sim::Machine{options};     // never destroyed: calls after exit() still get an answer
//   sim::ContextId context = machine.create_context(0);
//   machine.allocate(context, 4096, address);
//   machine.submit(machine.scheduler().default_stream(context), sim::Fill{.to = address, .value = 7, .width = 4096});
//   machine.scheduler().synchronize_context(context);
//
// Any thread may call. A driver function is: CallScope (call_gate.hpp), then a few of these. Memory belongs to a
// context and goes with it. After fork() a child must not touch its parent's Machine (locks may be taken); see
// per_process.hpp.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/core/device_memory.hpp"
#include "simulator/core/scheduler.hpp"
#include "simulator/core/shared_capacity.hpp"
#include "simulator/core/status.hpp"
#include "simulator/core/virtual_memory.hpp"

namespace sim {

struct MachineOptions {
  int devices = 2;  // 0 is a machine without a device
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  ClockMode clock = ClockMode::Auto;
  // Shared capacity: the file in /dev/shm, e.g. "mtia_sim.NAME"; empty: none. Cannot be joined: a line on stderr, not
  // shared.
  std::string shared_file{};
  std::string product = "MTIA";  // devices are called "PRODUCT (simulated)"
  bool exportable = false;       // other processes may open its memory (DeviceMemory::export_range)
};

struct DeviceIdentity {
  std::string name;
  std::array<unsigned char, 16> uuid{};  // the same in every process, so that views recognise the device
};

// Where an address belongs.
struct Place {
  int device = -1;  // -1: host memory
  bool live = false;
  bool is_virtual = false;  // reserved, and where it is live, mapped: `allocation` is the mapping then
  Allocation allocation{};  // where live
};

class Machine {
 public:
  explicit Machine(const MachineOptions& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  [[nodiscard]] int device_count() const { return static_cast<int>(memories_.size()); }
  // Requires for all `device`: 0 <= device < device_count().
  [[nodiscard]] const DeviceIdentity& identity(int device) const {
    return identities_[static_cast<std::size_t>(device)];
  }
  [[nodiscard]] DeviceMemory& memory(int device) { return *memories_[static_cast<std::size_t>(device)]; }
  [[nodiscard]] VirtualMemory& virtual_memory() { return virtual_memory_; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }

  ContextId create_context(int device);
  // A part of a live context (Scheduler::create_context): what is allocated in it is the whole's memory. 0: the whole
  // has gone.
  ContextId create_part(ContextId whole);
  // Completes its work, frees its memory; its streams, events and parts are gone.
  Status destroy_context(ContextId context);
  // -1 for an unknown context.
  [[nodiscard]] int device_of(ContextId context) const;
  // Waits for every context of the device, as a free does. The first error met.
  Status synchronize_device(int device);

  // Size 0: InvalidValue; what 0 means is the driver's affair.
  Status allocate(ContextId context, std::uint64_t size, Address& out);
  // Finds the device by the address. Doesn't wait: a driver calls synchronize_device(place(base).device) before, as
  // real ones do. If work still uses the block it is poisoned wholly, and that work is free to spoil whoever gets the
  // block next.
  Status release(Address base);

  [[nodiscard]] Place place(Address address) const;

  // Checks every device range against the live allocations (InvalidValue), stages host sources, queues. Empty ranges
  // are Ok and do nothing.
  Status submit(StreamId stream, Work work);

  // Gives back this process's share of the capacity; the last one removes the file. For the driver's exit handler;
  // afterwards everything works on, unshared.
  void leave_shared_capacity();

 private:
  struct Rows;
  // `device`: whose work it is.
  [[nodiscard]] Status prepare(Copy& copy, int device) const;
  [[nodiscard]] Status prepare(Fill& fill, int device) const;
  [[nodiscard]] static Status prepare(const HostFunction& host, int device);
  [[nodiscard]] static Status prepare(const Kernel&, int) { return Status::Ok; }
  [[nodiscard]] static Status prepare(const Marker&, int) { return Status::Ok; }
  enum class Side { Host, Device, Bad };
  [[nodiscard]] Side side_of(Address start, const Rows& rows, int device, Access access) const;
  [[nodiscard]] DeviceMemory* memory_around(Address address) const;
  bool run(Work& work) const;
  [[nodiscard]] bool run(const Copy& copy) const;
  [[nodiscard]] bool run(const Fill& fill) const;
  bool copy_row(Address to, Address from, std::uint64_t size) const;
  bool fill_row(Address to, std::span<const std::byte> pattern, std::uint64_t size, bool on_host) const;
  // From an address of virtual memory to where its bytes are; others stay. False: not mapped. Requires: hold().
  [[nodiscard]] bool to_bytes(Address& address, std::uint64_t size) const;

  std::unique_ptr<SharedCapacity> shared_;
  std::vector<DeviceIdentity> identities_;
  std::vector<std::unique_ptr<DeviceMemory>> memories_;
  VirtualMemory virtual_memory_;
  mutable std::mutex contexts_mutex_;  // taken before a memory's
  struct Owner {
    int device = -1;
    ContextId memory{};  // the context that owns what is allocated here
  };
  std::unordered_map<ContextId, Owner> contexts_;
  Scheduler scheduler_;  // last: its thread ends before the rest goes
};

}  // namespace sim
