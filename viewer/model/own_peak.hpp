// Peaks of a process since a moment that this viewer chose. Nobody's reset touches them, and they touch nobody's
// (DESIGN D14): the process keeps them for the holder of a control slot.
#pragma once

#include "viewer/model/act.hpp"
#include "viewer/model/asker.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tidemark::viewer {

class OwnPeak {
 public:
  // `device` as in resolve_devices(); with "all" also those that the process comes to use later. Throws Failure for a
  // device that isn't there. Requires: process.reader, or a dead process.
  OwnPeak(const ProcessView& process, std::string device);

  // From now on. Again: from then on.
  [[nodiscard]] Verdict begin(std::chrono::milliseconds timeout = kAnswerTime);

  // Since begin(); each outcome has its peaks. Of a process that ended meanwhile only those that are known for certain.
  [[nodiscard]] ProcessOutcome read(std::chrono::milliseconds timeout = kAnswerTime);

 private:
  static constexpr std::chrono::milliseconds kAnswerTime{2000};

  [[nodiscard]] Verdict read_device(const DeviceView& now, const DeviceView* before, DeviceOutcome& outcome,
                                    std::chrono::milliseconds timeout, bool& has_ended);

  ProcessView before_;  // as it was once it had begun
  std::string device_;
  Asker asker_;
  std::chrono::steady_clock::time_point begun_;
};

// What two looks at a device tell about its peaks between them: a peak of all time, or one since the same reset, that
// has risen was reached there, and so was one that equals what was in use at either look. Anything else is not known.
[[nodiscard]] PeakFigures peaks_between(const DeviceView& before, const DeviceView& now);

}  // namespace tidemark::viewer
