// A process with a segment of fixed numbers and nothing behind it, which obeys requests as the library would: what the
// viewer's tests look at and act upon.
//
//   viewer_fake_process DIRECTORY [label=TEXT] [policy=full|peaks|off] [access=owner|all] [answer=done|deferred|none]
//                               [user=UID]: becomes that user once its segment is there
//                               [history=PREFIX]: see fake_history.hpp
//
// Prints "ready ID PATH", then reads commands from stdin: "exit" marks the segment as exited and leaves; "leave"
// removes it besides, as most programs do; end of input leaves without either (as a killed process would).
#include "shared/control/host.hpp"
#include "shared/segment/writer.hpp"
#include "tests/viewer/fake_history.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace tidemark;
using enum BasisWord;

constexpr std::uint64_t kMiB = 1 << 20;

struct Options {
  std::string directory;
  std::string label;
  segment::ControlPolicy policy = segment::ControlPolicy::Full;
  segment::Access access = segment::Access::Owner;
  std::string answer = "done";
  uid_t user = 0;  // 0: stays who it is
  std::string history;
};

Options read_options(int argc, char** argv) {
  Options options;
  options.directory = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view value = word.substr(word.find('=') + 1);
    if (word.starts_with("label=")) {
      options.label = value;
    } else if (word.starts_with("policy=")) {
      options.policy = value == "peaks" ? segment::ControlPolicy::Peaks
                       : value == "off" ? segment::ControlPolicy::Off
                                        : segment::ControlPolicy::Full;
    } else if (word.starts_with("access=")) {
      options.access = value == "all" ? segment::Access::All : segment::Access::Owner;
    } else if (word.starts_with("answer=")) {
      options.answer = value;
    } else if (word.starts_with("history=")) {
      options.history = value;
    } else if (word.starts_with("user=")) {
      options.user = static_cast<uid_t>(std::stoul(std::string{value}));
    }
  }
  return options;
}

// 100 MiB in use of 400 reserved; the peak was 300.
DeviceBasis first_basis() {
  DeviceBasis basis;
  basis[large_live_blocks] = 1;
  basis[large_live_bytes] = 100 * kMiB;
  basis[large_requested_bytes] = 100 * kMiB - 1;
  basis[large_allocations_total] = 10;
  basis[large_allocated_bytes_total] = 1000 * kMiB;
  basis[large_requested_bytes_total] = 1000 * kMiB - 10;
  basis[large_segments] = 2;
  basis[large_segments_total] = 2;
  basis[large_reserved_bytes] = 400 * kMiB;
  basis[large_reserved_bytes_total] = 400 * kMiB;
  basis[misses] = 2;
  basis[device_allocs] = 2;
  basis[held_bytes] = 400 * kMiB;
  basis[held_peak_bytes] = 400 * kMiB;
  for (const BasisWord word : {peak_all_allocation, peak_large_allocation, peak_all_active, peak_large_active}) {
    basis[word] = 3;
  }
  for (const BasisWord word :
       {peak_all_allocated_bytes, peak_large_allocated_bytes, peak_all_requested_bytes, peak_large_requested_bytes,
        peak_all_active_bytes, peak_large_active_bytes, lifetime_peak_allocated_bytes}) {
    basis[word] = 300 * kMiB;
  }
  basis[peak_all_segment] = basis[peak_large_segment] = 2;
  for (const BasisWord word :
       {peak_all_reserved_bytes, peak_large_reserved_bytes, lifetime_peak_reserved_bytes, lifetime_peak_held_bytes}) {
    basis[word] = 400 * kMiB;
  }
  return basis;
}

segment::DeviceInfo device_info(segment::Backend backend, std::uint32_t ordinal) {
  segment::DeviceInfo info;
  info.backend = backend;
  info.ordinal = ordinal;
  info.uuid = {0xab, 0xcd, static_cast<std::uint8_t>(backend), static_cast<std::uint8_t>(ordinal)};
  info.name = "Fake device";
  info.capacity_bytes = 1024 * kMiB;
  info.simulated = true;
  return info;
}

class Device {
 public:
  Device(segment::SegmentWriter& writer, segment::Backend backend, std::uint32_t ordinal)
      : basis_(first_basis()), slot_(writer.claim_device(device_info(backend, ordinal), basis_).value()) {}

  void reset_peak() {
    basis_[peak_all_allocated_bytes] = basis_[large_live_bytes];
    basis_[peak_large_allocated_bytes] = basis_[large_live_bytes];
    slot_.publish(basis_, kAllBasisLines);
  }
  void reset_accumulated() {
    basis_[large_allocations_total] = basis_[misses] = 0;
    slot_.publish(basis_, kAllBasisLines);
  }
  void empty_cache() {
    basis_[large_reserved_bytes] = basis_[held_bytes] = 100 * kMiB;
    basis_[large_segments] = 1;
    slot_.publish(basis_, kAllBasisLines);
  }
  void set_limit(std::uint64_t bytes) {
    basis_[limit_bytes] = bytes;
    slot_.publish(basis_, kAllBasisLines);
  }
  [[nodiscard]] std::uint32_t index() const { return slot_.index(); }

 private:
  DeviceBasis basis_;
  segment::DeviceSlot slot_;
};

class Handler : public control::RequestHandler {
 public:
  Handler(std::array<Device, 2>& devices, std::string answer, test::FakeHistory history)
      : devices_(devices), answer_(std::move(answer)), history_(std::move(history)) {}

  control::Answer handle(const control::Request& request) noexcept override {
    if (answer_ == "deferred") {
      return {.status = segment::AckStatus::Deferred, .detail = "waits for an allocation", .results = {}};
    }
    if (const auto answered = history_.handle(request)) {
      return *answered;
    }
    for (Device& device : devices_) {
      if (request.device != control::kAllDevices && request.device != device.index()) {
        continue;
      }
      switch (request.operation) {
        case control::Operation::ResetPeak:
          device.reset_peak();
          break;
        case control::Operation::ResetAccumulated:
          device.reset_accumulated();
          break;
        case control::Operation::EmptyCache:
          device.empty_cache();
          break;
        case control::Operation::SetLimit:
          device.set_limit(request.arguments[0]);
          break;
        case control::Operation::ClearLimit:
          device.set_limit(0);
          break;
        case control::Operation::BeginPeak:
          break;
        case control::Operation::ReadPeak:
          return {.status = segment::AckStatus::Done, .detail = {}, .results = {150 * kMiB, 400 * kMiB, 500 * kMiB}};
        default:
          return {.status = segment::AckStatus::Invalid, .detail = {}, .results = {}};
      }
    }
    return {.status = segment::AckStatus::Done, .detail = {}, .results = {}};
  }

 private:
  std::array<Device, 2>& devices_;
  std::string answer_;
  test::FakeHistory history_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const bool controlled = options.policy != segment::ControlPolicy::Off;
  segment::WriterOptions writer_options;
  writer_options.directory = options.directory.c_str();
  writer_options.access = options.access;
  writer_options.control = controlled ? &control::companion_file() : nullptr;
  writer_options.label = options.label;
  writer_options.shim_version = "0.1.0";
  writer_options.command = "fake";
  writer_options.control_policy = options.policy;
  auto created = segment::SegmentWriter::create(writer_options);
  if (!created) {
    std::fprintf(stderr, "no segment: %s\n", std::strerror(created.error().native));
    return 1;
  }
  segment::SegmentWriter& writer = created.value();
  std::array<Device, 2> devices{Device{writer, segment::Backend::Cuda, 0}, Device{writer, segment::Backend::Mtia, 0}};
  Handler handler(devices, options.answer, test::FakeHistory{options.history, writer.path()});
  std::atomic<bool> stop{false};
  std::thread service;
  std::optional<control::ControlHost> host;
  if (controlled) {
    host.emplace(writer, handler, options.policy);
    if (options.answer != "none") {
      service = std::thread([&] {
        while (!stop) {
          host->poll();
          host->wait(std::chrono::seconds{1});
        }
      });
    }
  }
  writer.set_mode(segment::ProcessMode::Cache, "");
  if (options.user != 0 && setuid(options.user) != 0) {
    std::perror("setuid");
    return 1;
  }

  const std::string path = writer.path();
  std::printf("ready %s %s\n", path.substr(path.rfind('.') + 1, 8).c_str(), path.c_str());
  std::fflush(stdout);
  std::array<char, 256> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), stdin) != nullptr) {
    const std::string_view command{line.data()};
    if (command == "exit\n" || command == "leave\n") {
      writer.mark_exited();
      if (command == "leave\n") {
        writer.remove_files();
      }
      break;
    }
  }
  stop = true;
  if (service.joinable()) {
    host->wake();
    service.join();
  }
  return 0;
}
