#include "bench/workloads.hpp"

#include <cmath>
#include <random>

namespace tidemark::bench {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

// Sizes of which each doubling is as likely as the next.
class Sizes {
 public:
  Sizes(std::uint64_t seed, double least, double most) : random_(seed), exponent_(std::log2(least), std::log2(most)) {}
  std::uint64_t next() { return static_cast<std::uint64_t>(std::exp2(exponent_(random_))); }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> exponent_;
};

void take(std::vector<Step>& steps, std::uint32_t slot, std::uint64_t size) { steps.push_back({slot, size}); }
void give(std::vector<Step>& steps, std::uint32_t slot) { steps.push_back({slot, 0}); }

// One block of 4 KiB, taken and given.
Workload fixed() {
  constexpr std::size_t kPairs = 64;
  Workload work{.name = "fixed4k", .slots = 1};
  for (std::size_t i = 0; i < kPairs; ++i) {
    take(work.cycle, 0, 4 << 10);
    give(work.cycle, 0);
  }
  work.batch_steps = work.cycle.size();
  return work;
}

// Temporaries of nested functions: 16 deep, the last taken given first.
Workload lifo(std::uint64_t seed) {
  constexpr std::uint32_t kDeep = 16;
  constexpr std::size_t kRounds = 256;
  Workload work{.name = "lifo", .slots = kDeep};
  Sizes sizes{seed, 512, 2 * kMiB};
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t slot = 0; slot < kDeep; ++slot) take(work.cycle, slot, sizes.next());
    for (std::uint32_t slot = kDeep; slot-- > 0;) give(work.cycle, slot);
  }
  work.batch_steps = 4 * 2 * kDeep;
  return work;
}

// A program with blocks of all ages: `live` of them, and each pair replaces one.
Workload window(const char* name, std::uint32_t live, std::uint64_t seed) {
  constexpr std::size_t kPairs = 8192;
  Workload work{.name = name, .slots = live};
  Sizes sizes{seed, 512, 2 * kMiB};
  std::mt19937_64 random{seed + 1};
  for (std::uint32_t slot = 0; slot < live; ++slot) take(work.before, slot, sizes.next());
  for (std::size_t i = 0; i < kPairs; ++i) {
    const auto slot = static_cast<std::uint32_t>(random() % live);
    give(work.cycle, slot);
    take(work.cycle, slot, sizes.next());
  }
  work.batch_steps = 128;
  return work;
}

// A network's training step over weights that stay. Forward, each layer takes its activation and a workspace for a
// moment; backward, each takes a gradient and a workspace, and gives the gradient above it and its own activation.
Workload layers(std::uint64_t seed) {
  constexpr std::uint32_t kLayers = 96;
  constexpr std::uint32_t kWeights = 0, kActivations = kLayers, kGradients = 2 * kLayers, kWorkspace = 3 * kLayers + 1;
  Workload work{.name = "layers", .slots = kWorkspace + 1};
  Sizes sizes{seed, 4 * kKiB, 16 * kMiB};
  for (std::uint32_t i = 0; i < kLayers; ++i) take(work.before, kWeights + i, sizes.next());
  const auto with_workspace = [&](std::uint32_t slot, std::uint64_t size) {
    take(work.cycle, kWorkspace, sizes.next());
    take(work.cycle, slot, size);
    give(work.cycle, kWorkspace);
  };
  for (std::uint32_t i = 0; i < kLayers; ++i) with_workspace(kActivations + i, sizes.next());
  take(work.cycle, kGradients + kLayers, sizes.next());
  for (std::uint32_t i = kLayers; i-- > 0;) {
    with_workspace(kGradients + i, sizes.next());
    give(work.cycle, kGradients + i + 1);
    give(work.cycle, kActivations + i);
  }
  give(work.cycle, kGradients);
  work.batch_steps = work.cycle.size();
  return work;
}

// Large blocks until 60 % of the memory is taken; then all are given, oldest first, and the same begins anew.
Workload sawtooth(std::uint64_t memory, std::uint64_t seed) {
  Workload work{.name = "sawtooth"};
  Sizes sizes{seed, 2 * kMiB, 32 * kMiB};
  const std::uint64_t most = memory / 10 * 6;
  std::uint64_t size = sizes.next();
  for (std::uint64_t taken = 0; taken + size <= most; taken += size, size = sizes.next()) {
    take(work.cycle, work.slots++, size);
  }
  for (std::uint32_t slot = 0; slot < work.slots; ++slot) give(work.cycle, slot);
  work.batch_steps = work.cycle.size();
  return work;
}

}  // namespace

std::vector<Workload> workloads(std::uint64_t memory, std::uint64_t seed) {
  return {fixed(),
          lifo(seed),
          window("window256", 256, seed),
          window("window4096", 4096, seed),
          layers(seed),
          sawtooth(memory, seed)};
}

}  // namespace tidemark::bench
