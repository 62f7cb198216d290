// One implementation for all commands that act: asks processes through their control files and says what became of it.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/model/view.hpp"
#include "viewer/render/json.hpp"

#include "shared/control/layout.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tidemark::viewer {

struct Action {
  control::Operation operation = control::Operation::Ping;
  std::array<std::uint64_t, 4> arguments{};
  std::string device = "all";
  std::chrono::milliseconds timeout{2000};
  bool post_only = false;  // don't wait: what is not done at once is done later, and that is success
};

// One device of one process, before and after.
struct DeviceOutcome {
  ActResult result;
  Figures before;
  Figures after;  // equal to `before` where nothing was done
};

struct ProcessOutcome {
  ExitCode code = ExitCode::Done;
  std::vector<DeviceOutcome> devices;  // one without numbers for a process that has no device
};

// Requires: process.reader, or a dead process. Throws Failure for a device that isn't there; everything that the
// process or the system answers is in the outcome.
[[nodiscard]] ProcessOutcome act_on(const ProcessView& process, const Action& action);

}  // namespace tidemark::viewer
