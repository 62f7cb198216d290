#include "viewer/model/target.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/model/unpublished.hpp"

#include "shared/segment/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr std::size_t kShortestUuid = 4;  // without its leading word; fewer digits would be taken for an ordinal

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool are_hex_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

segment::Nameable nameable(const ProcessView& process) {
  const segment::ProcessIdentity& identity = process.snapshot.identity;
  return {.id = identity.id, .label = identity.label, .pid = process.pid(), .is_alive = process.is_alive()};
}

// "GPU-9f3c01aa-02" and what begins it: the digits without hyphens, and whose device the leading word says it is.
struct UuidText {
  std::string digits;
  segment::Backend backend = segment::Backend::Unknown;  // no leading word: anybody's
};

UuidText read_uuid(std::string_view text) {
  using segment::Backend;
  // A slice of a GPU is called MIG-... by its driver; it is a CUDA device like any other.
  constexpr std::array<std::pair<std::string_view, Backend>, 3> kWords{
      {{"gpu-", Backend::Cuda}, {"mig-", Backend::Cuda}, {"mtia-", Backend::Mtia}}};
  UuidText uuid{.digits = lower(text)};
  for (const auto& [word, backend] : kWords) {
    if (uuid.digits.starts_with(word)) {
      uuid.digits.erase(0, word.size());
      uuid.backend = backend;
      break;
    }
  }
  std::erase(uuid.digits, '-');
  return uuid;
}

bool is_uuid_form(const UuidText& uuid) {
  const std::size_t shortest = uuid.backend == segment::Backend::Unknown ? kShortestUuid : 1;
  return uuid.digits.size() >= shortest && are_hex_digits(uuid.digits);
}

// "cuda:0 (gpu:3), cuda:1 (gpu:4)": the node's index where it was looked for.
std::string device_list(const ProcessView& process) {
  std::vector<std::string> names;
  for (const DeviceView& device : process.devices) {
    names.push_back(device.node_index ? fmt::format("{} (gpu:{})", device.name, *device.node_index) : device.name);
  }
  return names.empty() ? "none yet" : fmt::format("{}", fmt::join(names, ", "));
}

bool is_one_backend(const ProcessView& process) {
  return std::all_of(process.devices.begin(), process.devices.end(), [&](const DeviceView& device) {
    return device.snapshot.info.backend == process.devices.front().snapshot.info.backend;
  });
}

// Is this a form of a device at all? Decides between "usage" and "not found".
bool is_device_form(std::string_view device) {
  for (const std::string_view backend : {"cuda:", "mtia:", "gpu:"}) {
    if (device.starts_with(backend)) {
      return are_digits(device.substr(backend.size()));
    }
  }
  return are_digits(device) || is_uuid_form(read_uuid(device));
}

constexpr std::string_view kNodeWord = "gpu:";

bool is_device(const DeviceView& device, std::string_view wanted, bool one_backend) {
  if (device.name == wanted) {
    return true;
  }
  if (wanted.starts_with(kNodeWord)) {
    return device.node_index && wanted == fmt::format("{}{}", kNodeWord, *device.node_index);
  }
  if (are_digits(wanted) && wanted.size() < kShortestUuid) {
    return one_backend && wanted == fmt::format("{}", device.snapshot.info.ordinal);
  }
  const UuidText uuid = read_uuid(wanted);
  const bool may_be = uuid.backend == segment::Backend::Unknown || uuid.backend == device.snapshot.info.backend;
  return may_be && is_uuid_form(uuid) && read_uuid(device.uuid).digits.starts_with(uuid.digits);
}

// A target that no readable segment has: somebody else's, a file we cannot use, or none at all.
[[noreturn]] void fail_not_among_readable(const View& view, std::string_view target) {
  const auto is_named_so = [&](std::uint64_t pid, const std::string& id) {
    return target == fmt::format("{}", pid) || (!id.empty() && lower(target) == id);
  };
  for (const HiddenProcess& hidden : view.hidden) {
    if (is_named_so(hidden.pid, hidden.id)) {
      throw Failure(ExitCode::PermissionDenied,
                    fmt::format("process {} belongs to user {} and is not readable; ask them for TIDEMARK_ACCESS=all, "
                                "or look as root",
                                hidden.pid, hidden.uid));
    }
  }
  for (const SkippedSegment& skipped : view.skipped) {
    if (is_named_so(skipped.pid, skipped.id)) {
      throw Failure(skipped.wrong_layout ? ExitCode::WrongLayout : ExitCode::NotFound,
                    fmt::format("{}: {}{}", skipped.path, skipped.reason,
                                skipped.wrong_layout ? "; use the tidemark that came with its library" : ""));
    }
  }
  const std::vector<std::filesystem::path> directories(view.directories.begin(), view.directories.end());
  for (const UnpublishedProcess& process : list_unpublished(view, directories)) {
    const bool is_meant = target == fmt::format("{}", process.pid) || (!target.empty() && target == process.label);
    if (is_meant && process.why == WhyUnpublished::Waiting) {
      throw Failure(ExitCode::NotFound,
                    fmt::format("process {} has the library and no allocation yet: it can be looked "
                                "at and asked from its first allocation on",
                                process.pid));
    }
    if (is_meant && process.why == WhyUnpublished::Elsewhere) {
      throw Failure(ExitCode::NotFound,
                    fmt::format("process {} has another TIDEMARK_DIR, where nobody looked: add --dir {}", process.pid,
                                process.directory));
    }
  }
  const bool is_pid = are_digits(target) && std::filesystem::exists(fmt::format("/proc/{}", target));
  throw Failure(
      ExitCode::NotFound,
      is_pid ? fmt::format("process {} publishes no counters here; 'tidemark doctor {}' says why", target, target)
             : fmt::format("no process '{}' (a pid, an id or a label); 'tidemark ps' lists what there is", target));
}

}  // namespace

std::string describe(const ProcessView& process) {
  return fmt::format("{} ({}, {}) {}", process.pid(), process.id(), to_text(process.snapshot.state), process.title());
}

void keep_only(View& view, const std::vector<std::string>& targets) {
  const auto first_left_out =
      std::stable_partition(view.processes.begin(), view.processes.end(), [&](const ProcessView& process) {
        return std::any_of(targets.begin(), targets.end(),
                           [&](const std::string& target) { return segment::is_named(nameable(process), target); });
      });
  View left_out;
  left_out.processes.assign(std::move_iterator{first_left_out}, std::move_iterator{view.processes.end()});
  view.processes.erase(first_left_out, view.processes.end());
  view.left_out = node_devices(left_out);
  view.is_choice = true;
  view.hidden.clear();
}

std::size_t resolve_target(const View& view, std::string_view target) {
  std::vector<segment::Nameable> processes;
  std::transform(view.processes.begin(), view.processes.end(), std::back_inserter(processes), nameable);
  const std::vector<std::size_t> found = segment::find_target(processes, target);
  if (found.size() == 1) {
    return found.front();
  }
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const std::size_t i : found) {
      names.push_back(describe(view.processes[i]));
    }
    throw Failure(ExitCode::Usage,
                  fmt::format("'{}' could be any of: {}; name one by its id", target, fmt::join(names, "; ")));
  }
  fail_not_among_readable(view, target);
}

std::vector<std::size_t> resolve_devices(const ProcessView& process, std::string_view device) {
  std::vector<std::size_t> found;
  if (device == "all") {
    found.resize(process.devices.size());
    std::iota(found.begin(), found.end(), std::size_t{0});
    return found;
  }
  if (!is_device_form(device)) {
    throw Failure(ExitCode::Usage,
                  fmt::format("device '{}'; allowed: cuda:N, mtia:N, N, gpu:N, a uuid's beginning, all", device));
  }
  const bool is_numbered = std::any_of(process.devices.begin(), process.devices.end(),
                                       [](const DeviceView& known) { return known.node_index.has_value(); });
  if (device.starts_with(kNodeWord) && !is_numbered) {
    throw Failure(ExitCode::NotFound,
                  fmt::format("device '{}': the node's numbering of this process's devices is not known ('tidemark "
                              "doctor' says whether NVML is there); name it by the process's own number ({}) or by its "
                              "uuid",
                              device, device_list(process)));
  }
  const bool one_backend = is_one_backend(process);
  for (std::size_t i = 0; i < process.devices.size(); ++i) {
    if (is_device(process.devices[i], device, one_backend)) {
      found.push_back(i);
    }
  }
  if (found.empty()) {
    throw Failure(ExitCode::NotFound,
                  fmt::format("process {} has no device '{}'; it has {}", process.pid(), device, device_list(process)));
  }
  if (found.size() > 1) {
    throw Failure(ExitCode::Usage, fmt::format("device '{}' could be several of {}", device, device_list(process)));
  }
  return found;
}

}  // namespace tidemark::viewer
