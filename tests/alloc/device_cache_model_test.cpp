// The allocator and the reference model agree on every counter after every operation, over random commands.
// TIDEMARK_TEST_SEED repeats a run, TIDEMARK_TEST_ROUNDS makes it longer.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/alloc/command_run.hpp"

namespace tidemark::test {
namespace {

using alloc::FreeMode;
using alloc::LargeRequests;
using alloc::Policy;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Character {
  const char* name;
  RunSetup setup;
  std::uint64_t largest;  // request
  bool ends_caching;      // one-way changes of mode, which make the rest of a run dull, are among the commands
  bool breaks;            // and so is a broken device
  bool crowded = false;   // requests fall into few bins, so that these are long
};

std::ostream& operator<<(std::ostream& out, const Character& character) { return out << character.name; }

class Commands {
 public:
  Commands(std::uint64_t seed, const Character& character) : random_(seed), character_(character) {}

  [[nodiscard]] std::vector<Command> make(std::size_t count) {
    std::vector<Command> commands;
    commands.reserve(count);
    while (commands.size() < count) {
      commands.push_back(next());
    }
    return commands;
  }

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  // Sizes of every magnitude, and often exactly on a limit.
  [[nodiscard]] std::uint64_t size() {
    if (character_.crowded) {
      return (64 << 10) + below(32 << 10);
    }
    const int magnitudes = 63 - __builtin_clzll(character_.largest);
    const std::uint64_t power = std::uint64_t{1} << below(static_cast<std::uint64_t>(magnitudes) + 1);
    switch (below(4)) {
      case 0:
        return power;
      case 1:
        return power + 1;
      case 2:
        return (std::uint64_t{2} << 20) * (1 + below(1 + character_.largest / (std::uint64_t{4} << 20)));
      default:
        return power + below(power);
    }
  }

  // Mostly the first device, so that it gets somewhere.
  [[nodiscard]] Command next() {
    Command command = next_op();
    command.device = below(4) == 0 ? 1 : 0;
    return command;
  }

  [[nodiscard]] Command next_op() {
    const std::uint64_t dice = below(1000);
    // A program's phases: it grows for a while, then shrinks.
    const std::uint64_t allocations = (made_++ / 200) % 2 == 0 ? 520 : 380;
    if (dice < allocations) {
      return {Op::Allocate, size(), below(10) < 7 ? 0 : below(3)};
    }
    if (dice < 880) {
      return {Op::Free, random_() % 100000, 0};
    }
    switch (below(60)) {
      case 0:
        return {Op::FreeAll, below(2), 0};
      case 1:
        return {Op::DestroyContext, below(3), 0};
      case 2:
        return {Op::FailToDestroyContext, below(3), 0};
      case 3:
        return {Op::SetLimit, below(3) == 0 ? below(character_.setup.capacity.count()) : 0, 0};
      case 4:
      case 5:
        return {Op::BeginCapture, 0, 0};
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
      case 11:
        return {Op::EndCapture, 0, 0};
      case 12:
        return {Op::TakeMemory, below(character_.setup.capacity.count() / 16), 0};
      case 13:
        return {Op::FailAllocations, below(4), below(8)};
      case 14:
        return {Op::FailReleases, character_.breaks ? below(3) : 0, 0};
      case 15:
        return {character_.breaks && below(4) == 0 ? Op::BreakDevice : Op::HealDevice, 0, 0};
      case 16:
      case 17:
        return {Op::HealDevice, 0, 0};
      case 18:
        return {character_.ends_caching && below(20) == 0 ? Op::CountOnly : Op::ResetPeaks, 0, 0};
      case 19:
        return {character_.ends_caching && below(10) == 0 ? Op::StopSubAllocating : Op::ResetAccumulated, 0, 0};
      case 20:
      case 21:
        return {Op::Pin, random_() % 100000, 0};
      case 22:
      case 23:
        return {Op::EmptyCache, 0, 0};
      case 24:
        return {Op::ParkEmptyCache, 0, 0};
      case 25:
      case 26:
      case 27:
        return {Op::Advance, below(3'000'000'000), 0};
      case 28:
        return {Op::AddKinds, below(1 << 20), 0};
      case 29:
        return {Op::RemoveKinds, below(1 << 20), 0};
      case 30:
      case 31:
      case 32:
        return {Op::MemoryInfo, below(3), 0};
      case 33:
      case 34:
      case 35:
        return {Op::DoubleFree, random_() % 100000, 0};
      case 36:
      case 37:
      case 38:
        return {Op::InteriorFree, random_() % 100000, 0};
      case 39:
        return {Op::ResetPeakSlot, below(2) == 0 ? below(4) : below(31), 0};
      case 40:
        return {Op::Beat, below(1'000'000), 0};
      case 41:
      case 42:
      case 43:
        return {Op::RefuseCalls, below(12) == 0 ? std::uint64_t{1} : 0, 0};
      default:
        return {below(2) == 0 ? Op::SubmitWork : Op::FinishWork, 0, 0};
    }
  }

  std::mt19937_64 random_;
  const Character& character_;
  std::uint64_t made_ = 0;
};

Policy with(LargeRequests large, FreeMode free_mode) {
  Policy policy;
  policy.large_requests = large;
  policy.free_mode = free_mode;
  policy.max_idle_ns = 5'000'000'000;
  return policy;
}

Policy everything() {
  Policy policy = with(LargeRequests::Split, FreeMode::Strict);
  policy.max_split_size = 40_MiB;
  policy.roundup_power2_divisions.fill(4);
  policy.limit = 300_MiB;
  policy.garbage_collection_threshold = 0.6;
  policy.max_cached = 200_MiB;
  return policy;
}

Policy counting() {
  Policy policy;
  policy.mode = DeviceMode::Count;
  return policy;
}

Policy filling(alloc::Fill fill, LargeRequests large, FreeMode free_mode) {
  Policy policy = with(large, free_mode);
  policy.fill = fill;
  return policy;
}

const Character kCharacters[] = {
    {"whole_strict", {with(LargeRequests::Whole, FreeMode::Strict), 512_MiB, true}, 64 << 20, false, false},
    {"whole_fast", {with(LargeRequests::Whole, FreeMode::Fast), 512_MiB, true}, 64 << 20, false, false},
    {"whole_fast_without_fences", {with(LargeRequests::Whole, FreeMode::Fast), 512_MiB, false}, 64 << 20, false, false},
    {"split_strict", {with(LargeRequests::Split, FreeMode::Strict), 512_MiB, true}, 64 << 20, false, false},
    {"split_fast", {with(LargeRequests::Split, FreeMode::Fast), 512_MiB, true}, 64 << 20, false, false},
    {"everything", {everything(), 512_MiB, true}, 64 << 20, false, false},
    {"small_only", {with(LargeRequests::Whole, FreeMode::Strict), 32_MiB, true}, 1 << 20, false, false},
    {"narrow", {with(LargeRequests::Split, FreeMode::Fast), 48_MiB, true}, 16 << 20, false, false},
    {"growth_gate", {with(LargeRequests::Whole, FreeMode::Strict), 8_GiB, true}, 512 << 20, false, false},
    {"crowded", {with(LargeRequests::Whole, FreeMode::Strict), 512_MiB, true}, 1 << 20, false, false, true},
    {"counting", {counting(), 512_MiB, true}, 64 << 20, false, false},
    {"changes_mode", {with(LargeRequests::Whole, FreeMode::Strict), 512_MiB, true}, 32 << 20, true, false},
    {"breaks", {with(LargeRequests::Whole, FreeMode::Strict), 512_MiB, true}, 32 << 20, true, true},
    {"breaks_fast", {with(LargeRequests::Split, FreeMode::Fast), 512_MiB, true}, 32 << 20, true, true},
    {"zeroing",
     {filling(alloc::Fill::Zero, LargeRequests::Whole, FreeMode::Strict), 512_MiB, true},
     32 << 20,
     true,
     true},
    {"poisoning",
     {filling(alloc::Fill::Poison, LargeRequests::Whole, FreeMode::Strict), 512_MiB, true},
     32 << 20,
     true,
     true},
    {"poisoning_fast",
     {filling(alloc::Fill::Poison, LargeRequests::Split, FreeMode::Fast), 512_MiB, true},
     32 << 20,
     false,
     true},
    {"poisoning_fast_without_fences",
     {filling(alloc::Fill::Poison, LargeRequests::Split, FreeMode::Fast), 48_MiB, false},
     16 << 20,
     false,
     false},
};

const RunSetup& setup_of(std::string_view name) {
  return std::find_if(std::begin(kCharacters), std::end(kCharacters),
                      [&](const Character& c) { return c.name == name; })
      ->setup;
}

class ReferenceModelAgrees : public testing::TestWithParam<Character> {};

TEST_P(ReferenceModelAgrees, OnEveryCounterAfterEveryOperation) {
  const std::uint64_t rounds = number_from("TIDEMARK_TEST_ROUNDS", 4);
  const std::uint64_t seed = number_from("TIDEMARK_TEST_SEED", std::random_device{}());
  std::cout << "TIDEMARK_TEST_SEED=" << seed << std::endl;  // at once: a crash shall not take it along
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::vector<Command> commands = Commands{seed + round, GetParam()}.make(3000);

    const RunResult result = run_commands(GetParam().setup, commands);

    if (!result.difference.empty()) {
      const std::vector<Command> shortest = shrink(GetParam().setup, commands);
      FAIL() << "TIDEMARK_TEST_SEED=" << seed + round << " TIDEMARK_TEST_ROUNDS=1\n"
             << "after command " << result.after << ": " << result.difference
             << "\nshortest list: " << run_commands(GetParam().setup, shortest).difference
             << "\nEXPECT_EQ(run_commands(setup_of(\"" << GetParam().name << "\"), " << as_source(shortest)
             << ").difference, \"\");";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, ReferenceModelAgrees, testing::ValuesIn(kCharacters),
                         [](const auto& each) { return std::string(each.param.name); });

// What a failure above prints is pasted here.
TEST(ReferenceModelAgreed, OnFastFreesThatAContextTakesAlong) {
  EXPECT_EQ(run_commands(setup_of("split_fast"), {{Op::Allocate, 700, 1, 0},
                                                  {Op::Allocate, 3 << 20, 1, 1},
                                                  {Op::SubmitWork, 0, 0, 0},
                                                  {Op::Free, 0, 0, 0},
                                                  {Op::ResetPeakSlot, 3, 0, 0},
                                                  {Op::DestroyContext, 1, 0, 0},
                                                  {Op::Free, 0, 0, 1},
                                                  {Op::Allocate, 3 << 20, 1, 1}})
                .difference,
            "");
}

// The limit was passed while a capture was open, and no longer is when the next free may look: it looks all the same.
TEST(ReferenceModelAgreed, OnALimitThatWasPassedMeanwhile) {
  EXPECT_EQ(run_commands(setup_of("whole_fast_without_fences"), {{Op::Allocate, 3 << 20, 0, 0},
                                                                 {Op::Allocate, 80 << 20, 0, 0},
                                                                 {Op::Allocate, 100, 0, 0},
                                                                 {Op::Free, 0, 0, 0},
                                                                 {Op::Free, 0, 0, 0},
                                                                 {Op::Allocate, 5 << 20, 0, 0},
                                                                 {Op::BeginCapture, 0, 0, 0},
                                                                 {Op::Allocate, 200 << 20, 0, 0},
                                                                 {Op::SetLimit, 150 << 20, 0, 0},
                                                                 {Op::Free, 2, 0, 0},
                                                                 {Op::Advance, 9'000'000'000, 0, 0},
                                                                 {Op::EndCapture, 0, 0, 0},
                                                                 {Op::Free, 0, 0, 0},
                                                                 {Op::Allocate, 3 << 20, 0, 0}})
                .difference,
            "");
}

}  // namespace
}  // namespace tidemark::test
