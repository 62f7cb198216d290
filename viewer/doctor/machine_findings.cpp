#include "viewer/doctor/machine_findings.hpp"

#include "viewer/size_text.hpp"

#include "shared/segment/layout.hpp"

#include <fmt/format.h>

namespace tidemark::viewer {
namespace {

using enum Weight;

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void add_driver(Findings& findings, const MachineFacts& facts) {
  if (!facts.nvidia_driver.empty()) {
    findings.push_back({Fine, "kernel-driver", facts.nvidia_driver});
    if (!facts.has_device_node) {
      findings.push_back({Note, "no-device-node", "there is no /dev/nvidia0: programs here have no GPU",
                          "in a container: start it with the GPUs"});
    }
  }
  if (!facts.cuda_driver.empty()) {
    findings.push_back({Fine, "cuda-driver", fmt::format("the CUDA driver is {}", facts.cuda_driver)});
  } else {
    findings.push_back({Note, "no-cuda-driver", "no libcuda.so.1 is where the loader looks",
                        facts.simulator.empty() ? "" : "tidemark run --simulate cuda -- CMD needs none"});
  }
  if (facts.nvml_devices) {
    findings.push_back(
        {Fine, "nvml",
         fmt::format("NVML tells the memory in use of {}", counted(*facts.nvml_devices, "device", "devices"))});
  } else {
    findings.push_back({Note, "no-nvml", fmt::format("no NVML: {}", facts.no_nvml),
                        "what a device has in use is only known from programs that asked their driver"});
  }
  findings.push_back(facts.simulator.empty()
                         ? Finding{Note, "no-simulator", "the simulated drivers are not installed"}
                         : Finding{Fine, "simulator", fmt::format("simulated drivers are in {}", facts.simulator)});
}

void add_processes(Findings& findings, const MachineFacts& facts) {
  findings.push_back(
      {Fine, "processes",
       fmt::format("{} counters", counted(facts.published, "process publishes its", "processes publish their"))});
  const Unpublished& others = facts.unpublished;
  if (others.waiting > 0) {
    findings.push_back({Note, "waiting",
                        fmt::format("{} the library and has allocated nothing yet",
                                    counted(others.waiting, "more process has", "more processes have"))});
  }
  if (others.silent > 0) {
    findings.push_back({Note, "silent",
                        fmt::format("{} the library and was told to stay silent",
                                    counted(others.silent, "process has", "processes have")),
                        "tidemark doctor PID says by what"});
  }
  if (others.elsewhere > 0) {
    findings.push_back(
        {Note, "elsewhere",
         fmt::format("{} where nobody looked: {}", counted(others.elsewhere, "process publishes", "processes publish"),
                     fmt::join(others.directories, ", ")),
         "add --dir"});
  }
  if (facts.hidden > 0) {
    findings.push_back({Note, "hidden",
                        fmt::format("{} other users', which only they and root may read",
                                    counted(facts.hidden, "segment is", "segments are"))});
  }
}

void add_leftovers(Findings& findings, const MachineFacts& facts) {
  if (facts.dead > 0) {
    findings.push_back(
        {Note, "leftovers",
         fmt::format("{} kept of processes that ended", counted(facts.dead, "segment is", "segments are")),
         "tidemark gc removes them"});
  }
  if (facts.damaged > 0) {
    findings.push_back(
        {Note, "damaged",
         fmt::format("{} a segment's name and is none, or damaged", counted(facts.damaged, "file has", "files have")),
         "tidemark ps names them"});
  }
  if (facts.incompatible > 0) {
    findings.push_back({Problem, "incompatible",
                        fmt::format("{} of a layout that this tidemark does not read",
                                    counted(facts.incompatible, "segment is", "segments are")),
                        "use the tidemark that came with the programs' library"});
  }
}

}  // namespace

Findings findings_of_installation(const MachineFacts& facts) {
  Findings findings;
  if (facts.library.empty()) {
    findings.push_back({Problem, "no-library", facts.library_error});
  } else if (!facts.loader_error.empty()) {
    findings.push_back({Problem, "library-refused",
                        fmt::format("the loader refuses {}: {}", facts.library, facts.loader_error),
                        "libtidemark.so needs glibc 2.35 and a file system without noexec"});
  } else {
    findings.push_back({Fine, "library", fmt::format("{} loads", facts.library)});
  }
  if (!facts.directory_trouble.empty()) {
    findings.push_back({Problem, "directory",
                        fmt::format("no segment can be made in {}: it {}", facts.directory, facts.directory_trouble),
                        "mend that, or set TIDEMARK_DIR; programs run and are cached, and nobody sees them"});
  } else {
    findings.push_back({Fine, "directory", fmt::format("segments go to {}", facts.directory)});
  }
  if (facts.file_size_limit && *facts.file_size_limit < segment::kSegmentBytes) {
    findings.push_back({Problem, "file-size-limit",
                        fmt::format("files may have {} here (ulimit -f), and a segment has {}",
                                    size_words(*facts.file_size_limit), size_words(segment::kSegmentBytes)),
                        "raise the limit, or use TIDEMARK_SHM=off to cache without counters"});
  }
  return findings;
}

Findings findings_of_machine(const MachineFacts& facts) {
  Findings findings = findings_of_installation(facts);
  add_driver(findings, facts);
  add_processes(findings, facts);
  add_leftovers(findings, facts);
  return findings;
}

}  // namespace tidemark::viewer
