// One device of a command run: the allocator on a fake driver, and the model on a device of its own. Whatever is done
// to one is done to the other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shim/alloc/device_cache.hpp"
#include "tests/alloc/command_run.hpp"
#include "tests/support/counted_sink.hpp"
#include "tests/support/fake_upstream.hpp"
#include "tests/support/reference_model.hpp"

namespace tidemark::test {

class DeviceRun {
 public:
  // `number`: which of the process's devices; each has its own addresses and context ids.
  DeviceRun(const RunSetup& setup, unsigned number, alloc::SegmentMap& map);

  void step(const Command& command);
  // A capture of any device's stream keeps helper calls away from all of them.
  void set_capturing(bool capturing);
  // The clock is the process's, and another device's calls moved it.
  void keep_time();

  // Empty, or what differs now.
  [[nodiscard]] std::string complaint();
  // The same for what is costly to compare: at the end of a run.
  [[nodiscard]] std::string last_complaint();

 private:
  static constexpr std::size_t kContexts = 3;

  struct Holding {
    alloc::DevicePtr ptr;
    ModelAddress address;
    alloc::ContextId context;
    std::uint64_t requested;
    std::uint32_t beat;
  };

  void allocate(alloc::ContextId context, std::uint64_t size);
  void release(std::size_t index);
  void try_release(alloc::DevicePtr ptr, ModelAddress address, const char* what);
  void free_all(bool newest_first);
  void free_again(std::uint64_t which);
  void destroy(std::size_t slot, bool succeeds);
  void ask_for_memory_info(alloc::ContextId context);
  void empty_cache();
  void fail(const Command& command);
  // A program's free: the process asks all its devices.
  [[nodiscard]] Status released(alloc::DevicePtr ptr);
  void expect(bool holds, const char* what) {
    if (!holds && complaint_.empty()) {
      complaint_ = what;
    }
  }

  alloc::SegmentMap& map_;
  FakeUpstream device_;
  CountedSink sink_;
  ReferenceModel model_;
  alloc::DeviceCache cache_;
  std::array<alloc::ContextId, kContexts> contexts_;
  std::uint64_t next_context_;
  std::vector<Holding> live_;
  std::vector<Holding> freed_;
  std::map<std::uint64_t, std::uint64_t> base_of_;  // by the model's segment number
  std::uint64_t kinds_ = 0;
  std::uint32_t beat_ = 0;
  std::string complaint_;
};

}  // namespace tidemark::test
