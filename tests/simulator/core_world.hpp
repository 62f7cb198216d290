// A machine with one context on its first device, for the core's tests: the clock stands still unless they say
// otherwise.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "simulator/core/machine.hpp"

namespace sim {

struct World {
  Machine machine{{.devices = 2, .memory_bytes = std::uint64_t{1} << 30, .clock = ClockMode::Manual}};
  ContextId context = machine.create_context(0);
  Scheduler& scheduler = machine.scheduler();

  [[nodiscard]] StreamId default_stream() const { return machine.scheduler().default_stream(context); }

  StreamId stream(StreamKind kind = StreamKind::Blocking) {
    StreamId made{};
    EXPECT_EQ(scheduler.create_stream(context, kind, made), Status::Ok);
    return made;
  }

  EventId event() {
    EventId made{};
    EXPECT_EQ(scheduler.create_event(context, made), Status::Ok);
    return made;
  }

  Address block(std::uint64_t size = 4096) {
    Address made = 0;
    EXPECT_EQ(machine.allocate(context, size, made), Status::Ok);
    return made;
  }

  Status fill(StreamId stream, Address to, unsigned char value, std::uint64_t size = 4096) {
    return machine.submit(stream, Fill{.to = to, .value = value, .width = size});
  }

  Status copy(StreamId stream, Address to, Address from, std::uint64_t size = 4096) {
    return machine.submit(stream, Copy{.to = to, .from = from, .width = size});
  }

  // What is there now, whatever is still to come.
  unsigned char first_byte(Address address) {
    std::byte byte{};
    EXPECT_EQ(machine.memory(0).read(address, {&byte, 1}), Status::Ok);
    return std::to_integer<unsigned char>(byte);
  }

  // Never written by anybody: a fresh block.
  Address zeroed(std::uint64_t size = 4096) {
    const Address made = block(size);
    fill(default_stream(), made, 0, size);
    scheduler.synchronize(default_stream());
    return made;
  }
};

inline Address host(const void* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace sim
