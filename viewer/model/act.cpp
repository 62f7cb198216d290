#include "viewer/model/act.hpp"

#include "viewer/model/asker.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"

#include <optional>

namespace tidemark::viewer {
namespace {

Verdict ask(const ProcessView& process, const Action& action, std::uint32_t slot) {
  const control::Order order{
      .operation = action.operation, .device = slot, .arguments = action.arguments, .may_run_later = action.post_only};
  return Asker{process}.ask(order, action.timeout).verdict;
}

const DeviceView* find_slot(const ProcessView& process, std::uint32_t slot) {
  for (const DeviceView& device : process.devices) {
    if (device.snapshot.slot == slot) {
      return &device;
    }
  }
  return nullptr;
}

}  // namespace

ProcessOutcome act_on(const ProcessView& process, const Action& action) {
  const std::vector<std::size_t> wanted = resolve_devices(process, action.device);
  ProcessOutcome outcome;
  const auto add = [&](const Verdict& verdict, const std::string& device, const std::optional<Figures>& before,
                       const std::optional<Figures>& after) {
    outcome.code = outcome.code == ExitCode::Done ? verdict.code : outcome.code;
    outcome.devices.push_back({.result = {.id = process.id(),
                                          .pid = process.pid(),
                                          .device = device,
                                          .status = verdict.status,
                                          .detail = verdict.detail},
                               .before = before,
                               .after = after});
  };
  if (wanted.empty()) {
    add(ask(process, action, control::kAllDevices), "all", std::nullopt, std::nullopt);
    return outcome;
  }
  // One request for all devices, so that they are done at one moment as far as the process can.
  const bool all = action.device == "all";
  const std::uint32_t slot = all ? control::kAllDevices : process.devices[wanted.front()].snapshot.slot;
  const Verdict verdict = ask(process, action, slot);
  const ProcessView after = process.reader ? look_again(process) : process;
  for (const std::size_t i : wanted) {
    const DeviceView& device = process.devices[i];
    const DeviceView* now = verdict.status == "done" ? find_slot(after, device.snapshot.slot) : nullptr;
    add(verdict, device.name, device.figures, now != nullptr ? std::optional{now->figures} : std::nullopt);
  }
  return outcome;
}

}  // namespace tidemark::viewer
