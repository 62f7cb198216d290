// One implementation for all commands that act: asks processes through their control files and says what became of it.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/model/view.hpp"

#include "shared/control/layout.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
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

// What became of one request to one device of one process.
struct ActResult {
  std::string id;
  std::int64_t pid = 0;
  std::string device;  // "cuda:0"; "all" for a process without devices
  std::string status;  // done, deferred, refused, timeout, gone
  std::string detail;  // empty: nothing to add
};

// The peaks of an interval, in bytes; none: not known.
struct PeakFigures {
  double seconds = 0;
  std::optional<std::uint64_t> allocated;
  std::optional<std::uint64_t> reserved;
  std::optional<std::uint64_t> held;
};

struct DeviceOutcome {
  ActResult result;
  std::optional<Figures> before = std::nullopt;        // none: the process has no device
  std::optional<Figures> after = std::nullopt;         // none: not done, or the device can't be read any more
  std::optional<PeakFigures> own_peak = std::nullopt;  // of `tidemark peak`
};

struct ProcessOutcome {
  ExitCode code = ExitCode::Done;
  std::vector<DeviceOutcome> devices;  // one without numbers for a process that has no device
  bool has_ended = false;              // the process, as `tidemark peak` found: what it tells now is final
};

// Requires: process.reader, or a dead process. Throws Failure for a device that isn't there; everything that the
// process or the system answers is in the outcome.
[[nodiscard]] ProcessOutcome act_on(const ProcessView& process, const Action& action);

// Why a living process cannot be asked, as far as that shows from outside; empty: it can. Requires: process.reader.
[[nodiscard]] std::string obstacle_of(const ProcessView& process);

}  // namespace tidemark::viewer
