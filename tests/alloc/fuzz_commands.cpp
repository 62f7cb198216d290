// The fuzzer writes the commands, the reference model judges: the same run as device_cache_model_test, with lists that
// no random generator would come upon. An input: one byte for the setup, then six bytes a command.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "tests/alloc/command_run.hpp"

namespace tidemark::test {
namespace {

RunSetup setup_from(std::uint8_t byte) {
  RunSetup setup;
  setup.capacity = 128_MiB;
  setup.fences = (byte & 1) != 0;
  setup.policy.free_mode = (byte & 2) != 0 ? alloc::FreeMode::Fast : alloc::FreeMode::Strict;
  setup.policy.large_requests = (byte & 4) != 0 ? alloc::LargeRequests::Split : alloc::LargeRequests::Whole;
  setup.policy.growth_gate = (byte & 8) != 0;
  setup.policy.max_idle_ns = 5'000'000'000;
  if ((byte & 16) != 0) {
    setup.policy.limit = 96_MiB;
    setup.policy.garbage_collection_threshold = 0.5;
  }
  if ((byte & 32) != 0) {
    setup.policy.large_requests = alloc::LargeRequests::Split;
    setup.policy.max_split_size = 24_MiB;
  }
  if ((byte & 64) != 0) {
    setup.policy.max_cached = 40_MiB;
  }
  if ((byte & 128) != 0) {
    setup.policy.fill = (byte & 1) != 0 ? alloc::Fill::Poison : alloc::Fill::Zero;
  }
  return setup;
}

std::vector<Command> commands_from(std::span<const std::uint8_t> bytes) {
  std::vector<Command> commands;
  for (; bytes.size() >= 6; bytes = bytes.subspan(6)) {
    Command command{.op = static_cast<Op>(bytes[0] % static_cast<std::uint8_t>(Op::count_)),
                    .b = std::uint64_t{bytes[1]} & 0x7FU,
                    .device = static_cast<decltype(Command::device)>(bytes[1] >> 7U)};
    // Sizes and times of every magnitude from few bits: a mantissa and an exponent.
    command.a = (std::uint64_t{bytes[2]} | std::uint64_t{bytes[3]} << 8 | std::uint64_t{bytes[4]} << 16)
                << (bytes[5] % 16);
    if (command.op == Op::Allocate) {
      command.a = 1 + command.a % (64 << 20);
    }
    if (command.op == Op::Advance || command.op == Op::AddKinds) {
      command.a %= 4'000'000'000;
    }
    commands.push_back(command);
  }
  return commands;
}

}  // namespace
}  // namespace tidemark::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark::test;
  if (size < 7) {
    return 0;
  }
  const RunSetup setup = setup_from(data[0]);
  const std::vector<Command> commands = commands_from({data + 1, size - 1});
  const RunResult result = run_commands(setup, commands);
  if (!result.difference.empty()) {
    std::fprintf(stderr, "after command %zu: %s\n%s\n", result.after, result.difference.c_str(),
                 as_source(shrink(setup, commands)).c_str());
    std::abort();
  }
  return 0;
}
