// What it costs the program to publish its counters, and a viewer to read them.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "shared/segment/reader.hpp"
#include "shared/segment/writer.hpp"

namespace tidemark::bench {
namespace {

// A segment in a directory of its own, with one device; nothing of it stays.
class OneDevice {
 public:
  OneDevice() : directory_("/tmp/tidemark-bench.XXXXXX") {
    if (mkdtemp(directory_.data()) == nullptr) std::abort();
    segment::WriterOptions options;
    options.directory = directory_.c_str();
    auto writer = segment::SegmentWriter::create(options);
    if (!writer.ok()) std::abort();
    writer_ = std::make_unique<segment::SegmentWriter>(std::move(writer).value());
    auto slot = writer_->claim_device({}, basis_);
    if (!slot.ok()) std::abort();
    slot_ = slot.value();
  }
  OneDevice(const OneDevice&) = delete;
  OneDevice& operator=(const OneDevice&) = delete;
  ~OneDevice() {
    writer_.reset();
    std::filesystem::remove_all(directory_);
  }

  void publish(BasisLines lines) { slot_.publish(basis_, lines); }
  void count_one() { ++basis_[BasisWord::small_allocations_total]; }
  [[nodiscard]] segment::SegmentReader reader() const {
    auto reader = segment::SegmentReader::open(writer_->path());
    if (!reader.ok()) std::abort();
    return std::move(reader).value();
  }

 private:
  std::string directory_;
  std::unique_ptr<segment::SegmentWriter> writer_;
  segment::DeviceSlot slot_;
  DeviceBasis basis_;
};

void publish(benchmark::State& state, BasisLines lines) {
  OneDevice device;
  for (auto _ : state) {
    device.count_one();
    device.publish(lines);
  }
}
BENCHMARK_CAPTURE(publish, hit, line_of(BasisWord::small_live_blocks));
BENCHMARK_CAPTURE(publish, everything, kAllBasisLines);

void read_snapshot(benchmark::State& state) {
  const OneDevice device;
  const segment::SegmentReader reader = device.reader();
  for (auto _ : state) benchmark::DoNotOptimize(reader.snapshot());
}
BENCHMARK(read_snapshot);

void open_and_read_snapshot(benchmark::State& state) {
  const OneDevice device;
  for (auto _ : state) benchmark::DoNotOptimize(device.reader().snapshot());
}
BENCHMARK(open_and_read_snapshot);

}  // namespace
}  // namespace tidemark::bench

BENCHMARK_MAIN();
