// A crowd to look at: processes with segments of two devices each, which answer and beat once a second, as the library
// does, and do nothing else. For bench/viewer.py.
//
//   viewer_crowd COUNT DIRECTORY
// Prints "ready" once all are there; they end with its stdin.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shared/control/host.hpp"
#include "shared/segment/writer.hpp"

namespace {

using namespace tidemark;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr unsigned kDevicesOfNode = 8;

segment::DeviceInfo device(unsigned index) {
  segment::DeviceInfo info;
  info.backend = segment::Backend::Cuda;
  info.ordinal = index;
  info.uuid = {0xbe, static_cast<std::uint8_t>(index)};
  info.name = "Device of a benchmark";
  info.capacity_bytes = 80'000 * kMiB;
  return info;
}

DeviceBasis basis(unsigned process) {
  using enum BasisWord;
  DeviceBasis basis;
  const std::uint64_t held = (process + 1) * kMiB;
  basis[large_live_blocks] = basis[large_segments] = 1;
  for (const BasisWord word : {large_live_bytes, large_requested_bytes, large_reserved_bytes, held_bytes,
                               peak_all_allocated_bytes, peak_large_allocated_bytes, peak_all_reserved_bytes,
                               lifetime_peak_allocated_bytes, lifetime_peak_reserved_bytes, held_peak_bytes}) {
    basis[word] = held;
  }
  return basis;
}

// Says yes to everything.
class Handler : public control::RequestHandler {
 public:
  control::Answer handle(const control::Request& /*request*/) noexcept override {
    return {.status = segment::AckStatus::Done, .detail = {}, .results = {kMiB, kMiB, kMiB}};
  }
};

// Never returns.
void live(unsigned process, const char* directory, int ready) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  segment::WriterOptions options;
  options.directory = directory;
  options.control = &control::companion_file();
  options.command = "crowd";
  options.shim_version = "0.1.0";
  auto writer = segment::SegmentWriter::create(options);
  const bool is_made = writer && writer.value().claim_device(device(process % kDevicesOfNode), basis(process)) &&
                       writer.value().claim_device(device((process + 1) % kDevicesOfNode), basis(process));
  if (!is_made || write(ready, "!", 1) != 1) {
    _exit(1);
  }
  Handler handler;
  control::ControlHost host{writer.value(), handler, segment::ControlPolicy::Full};
  for (;;) {
    host.poll();
    host.wait(std::chrono::seconds{1});
    writer.value().beat({});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc == 3 ? static_cast<unsigned>(std::atoi(argv[1])) : 0;
  int ready[2];
  if (count == 0 || pipe(ready) != 0) {
    std::fprintf(stderr, "usage: viewer_crowd COUNT DIRECTORY\n");
    return 2;
  }
  std::vector<pid_t> crowd;
  for (unsigned process = 0; process < count; ++process) {
    const pid_t pid = fork();
    if (pid == 0) {
      live(process, argv[2], ready[1]);
    }
    crowd.push_back(pid);
  }
  close(ready[1]);
  unsigned here = 0;
  for (char byte = 0; here < count && read(ready[0], &byte, 1) == 1; ++here) {
  }
  std::puts(here == count ? "ready" : "some could not start");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  for (const pid_t pid : crowd) {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  return here == count ? 0 : 1;
}
