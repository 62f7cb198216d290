// Trains a transformer on an MTIA device.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "simulator/samples/mtia_train/device.hpp"
#include "simulator/samples/mtia_train/model.hpp"
#include "simulator/samples/mtia_train/options.hpp"

namespace train {
namespace {

constexpr int kWarmUpSteps = 10;
constexpr int kEvaluateEvery = 10;

struct Phase {
  const char* name;
  std::size_t rows;
  bool learns;
};

Phase phase_of(int step) {
  if (step < kWarmUpSteps) return {"warm-up", 1, true};
  if (step % kEvaluateEvery == kEvaluateEvery - 1) return {"evaluate", 4, false};
  return {"train", 2, true};
}

// FNV-1a, over all results so far.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) value_ = (value_ ^ static_cast<std::uint64_t>(b)) * 0x100000001b3;
  }
  [[nodiscard]] unsigned long long value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

class Trainer {
 public:
  explicit Trainer(const Options& options)
      : shape_(Shape::scaled(options.scale)), data_(options.seed + 1), model_(compute_, shape_, options.seed) {
    compute_.synchronize();
    std::printf("model: %zu layers, width %zu, %zu bytes of parameters\n", shape_.layers, shape_.width, usage().now);
  }

  void step(int number) {
    const Phase phase = phase_of(number);
    usage().peak = usage().now;
    // Batches come in four lengths, as texts do.
    const std::size_t sequence = shape_.sequence * (5 + data_() % 4) / 8;
    const Tensor tokens = next_tokens(phase.rows * sequence);
    const Model::Batch batch{.rows = phase.rows, .sequence = sequence, .tokens = tokens};

    Tensor logits = model_.forward(batch, phase.learns);
    std::array<std::byte, 4096> sample{};
    compute_.download(sample, logits);
    checksum_.add(sample);
    if (phase.learns) {
      model_.backward(batch, std::move(logits));
      model_.update();
    }
    check(mtiaLaunchHostFunc(
              compute_.handle(), [](void* done) { ++*static_cast<std::atomic<int>*>(done); }, &done_),
          "mtiaLaunchHostFunc");
    compute_.synchronize();
    std::printf("step %4d %-8s %zu x %4zu  peak %11zu bytes  checksum %016llx\n", number, phase.name, phase.rows,
                sequence, usage().peak, checksum_.value());
    std::fflush(stdout);
  }

  void finish(int steps) const {
    if (done_ != steps) throw std::runtime_error("the device lost a step");
    std::printf("done: %d steps, checksum %016llx\n", steps, checksum_.value());
  }

 private:
  // On a stream of their own; the computation starts when they are there.
  Tensor next_tokens(std::size_t count) {
    std::vector<std::uint32_t> host(count);
    for (std::uint32_t& token : host) token = static_cast<std::uint32_t>(data_() % shape_.vocabulary);
    Tensor tokens{count * sizeof(std::uint32_t)};
    transfer_.upload(tokens, std::as_bytes(std::span{host}));
    arrived_.record(transfer_);
    arrived_.synchronize();
    return tokens;
  }

  const Shape shape_;
  std::mt19937 data_;
  Stream compute_;
  Stream transfer_;
  Event arrived_;
  Model model_;
  Checksum checksum_;
  std::atomic<int> done_{0};
};

void run(const Options& options) {
  check(mtiaInit(0), "mtiaInit");
  check(mtiaSetDevice(options.device), "mtiaSetDevice");
  mtiaDeviceProp properties;
  check(mtiaGetDeviceProperties(&properties, options.device), "mtiaGetDeviceProperties");
  std::printf("device %d: %s, %zu MiB\n", options.device, properties.name, properties.totalGlobalMem >> 20);

  Trainer trainer{options};
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < options.steps; ++step) {
    trainer.step(step);
    const std::chrono::duration<double> due{options.seconds * (step + 1) / options.steps};
    std::this_thread::sleep_until(start + std::chrono::duration_cast<std::chrono::nanoseconds>(due));
  }
  trainer.finish(options.steps);
}

}  // namespace
}  // namespace train

int main(int argc, char** argv) try {
  const train::Options options = train::parse_options(argc, argv);
  if (options.help) {
    std::fputs(train::kUsage, stdout);
    return 0;
  }
  train::run(options);
  return 0;
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "mtia_train: %s; see mtia_train --help\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "mtia_train: %s\n", error.what());
  return 1;
}
