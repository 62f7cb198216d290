#include "tests/alloc/command_run.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "tests/alloc/device_run.hpp"
#include "tests/support/test_clock.hpp"

namespace tidemark::test {

namespace {

constexpr std::uint64_t kStart = 1'000'000'000;

class Run {
 public:
  explicit Run(const RunSetup& setup) {
    TestClock::set(kStart);
    for (unsigned number = 0; number < devices_.size(); ++number) {
      devices_[number] = std::make_unique<DeviceRun>(setup, number, map_);
    }
  }

  // What differs afterwards, on any of the devices.
  [[nodiscard]] std::string step(const Command& command) {
    switch (command.op) {
      case Op::BeginCapture:
      case Op::EndCapture:
        for (const auto& device : devices_) {
          device->set_capturing(command.op == Op::BeginCapture);
        }
        break;
      case Op::Advance:
        TestClock::advance(command.a);
        break;
      default: {
        DeviceRun& device = *devices_[command.device % devices_.size()];
        device.keep_time();
        device.step(command);
        if (std::string complaint = device.complaint(); !complaint.empty()) {
          return complaint;
        }
        break;
      }
    }
    return first_complaint(&DeviceRun::complaint);
  }

  [[nodiscard]] std::string last_complaint() { return first_complaint(&DeviceRun::last_complaint); }

 private:
  [[nodiscard]] std::string first_complaint(std::string (DeviceRun::*ask)()) {
    std::string complaint;
    for (const auto& device : devices_) {
      device->keep_time();
      complaint = complaint.empty() ? (*device.*ask)() : complaint;
    }
    return complaint;
  }

  alloc::SegmentMap map_;
  std::array<std::unique_ptr<DeviceRun>, 2> devices_;
};

}  // namespace

RunResult run_commands(const RunSetup& setup, const std::vector<Command>& commands) {
  Run run{setup};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (std::string complaint = run.step(commands[i]); !complaint.empty()) {
      return {.difference = std::move(complaint), .after = i};
    }
  }
  return {.difference = run.last_complaint(), .after = commands.size()};
}

// Leaves out ever smaller pieces for as long as the rest still differs.
std::vector<Command> shrink(const RunSetup& setup, std::vector<Command> commands) {
  commands.resize(std::min(commands.size(), run_commands(setup, commands).after + 1));
  for (std::size_t piece = commands.size() / 2; piece > 0; piece /= 2) {
    for (std::size_t begin = 0; begin + piece <= commands.size();) {
      std::vector<Command> fewer = commands;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin),
                  fewer.begin() + static_cast<std::ptrdiff_t>(begin + piece));
      if (run_commands(setup, fewer).difference.empty()) {
        begin += piece;
      } else {
        commands = std::move(fewer);
      }
    }
  }
  return commands;
}

std::string as_source(const std::vector<Command>& commands) {
  constexpr std::array kNames = {
#define X(name) "Op::" #name,
      TIDEMARK_COMMANDS(X)
#undef X
  };
  std::string text = "{";
  for (const Command& command : commands) {
    text += "{" + std::string(kNames[static_cast<std::size_t>(command.op)]) + ", " + std::to_string(command.a) + ", " +
            std::to_string(command.b) + ", " + std::to_string(command.device) + "}, ";
  }
  return text + "}";
}

}  // namespace tidemark::test
