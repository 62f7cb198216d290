// Tables and stacks that are wrong: a walk ends there, and nothing else happens.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>

#include "shim/stacks/call_frame_program.hpp"
#include "shim/stacks/call_frame_table.hpp"
#include "shim/stacks/readable.hpp"
#include "shim/stacks/step.hpp"
#include "tests/stacks/walks.hpp"

namespace tidemark::stacks {
namespace {

std::uintptr_t some_function() { return reinterpret_cast<std::uintptr_t>(&tidemark_chain_without_fp); }

// This program's tables in memory that may be changed, with nothing readable before and behind them.
class TablesToSpoil : public testing::Test {
 protected:
  void SetUp() override {
    real_ = find_object(some_function());
    ASSERT_TRUE(real_.holds(real_.table));
    std::uintptr_t end = real_.table;
    while (end < real_.end && is_readable(page_of(end))) {
      end = page_of(end) + kPage;
    }
    bytes_ = end - real_.table;
    pages_ = (bytes_ + kPage - 1) / kPage * kPage;
    // The whole object: what spoiled tables lead to must not be memory of somebody else.
    before_ = page_of(real_.table - real_.begin) + kPage;
    void* const object =
        mmap(nullptr, before_ + pages_ + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(object, MAP_FAILED);
    memory_ = static_cast<unsigned char*>(object) + before_;
    ASSERT_EQ(mprotect(memory_, pages_, PROT_READ | PROT_WRITE), 0);
    restore();
  }
  void TearDown() override {
    if (memory_ != nullptr) munmap(memory_ - before_, before_ + pages_ + kPage);
  }

  // Behind the tables lie variables, whose surroundings a sanitizer guards: word by word, unseen.
  __attribute__((no_sanitize("address", "thread"))) void restore() {
    const auto* from = reinterpret_cast<const volatile unsigned char*>(real_.table);
    for (std::size_t i = 0; i < bytes_; ++i) memory_[i] = from[i];
  }

  // As if it were loaded where the copy lies: addresses in the tables are relative to them.
  [[nodiscard]] KnownObject copy() const {
    const auto table = reinterpret_cast<std::uintptr_t>(memory_);
    return {.begin = table - (real_.table - real_.begin), .end = table + pages_ + kPage, .table = table, .identity = 1};
  }
  [[nodiscard]] std::uintptr_t function() const { return copy().begin + (some_function() - real_.begin); }

  [[nodiscard]] Row row() const {
    CallFrameEntry entry;
    return find_call_frame_entry(copy(), function() + 40, entry) ? find_row_by_table(entry, function() + 40) : Row{};
  }

  KnownObject real_{};
  unsigned char* memory_ = nullptr;
  std::size_t before_ = 0;  // the object's pages in front of its tables
  std::size_t bytes_ = 0;
  std::size_t pages_ = 0;
};

TEST_F(TablesToSpoil, AreReadWhereTheyAreWhole) { EXPECT_EQ(row().kind, RowKind::Table); }

TEST_F(TablesToSpoil, AreNotBelievedWhateverIsInThem) {
  std::mt19937 random{7};  // NOLINT(cert-msc51-cpp): the same each time
  CallFrameEntry entry;
  ASSERT_TRUE(find_call_frame_entry(copy(), function(), entry));
  const std::size_t interesting = entry.program.at() - reinterpret_cast<std::uintptr_t>(memory_);
  unsigned still_tables = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t begin = round % 3 == 0 ? 0 : round % 3 == 1 ? interesting - 24 : 0;
    const std::size_t span = round % 3 == 0 ? 16 : round % 3 == 1 ? 64 : bytes_;
    std::array<std::pair<std::size_t, unsigned char>, 4> changed{};
    for (auto& [at, before] : changed) {
      at = begin + random() % span;
      before = memory_[at];
      memory_[at] = static_cast<unsigned char>(random());
    }

    still_tables += row().kind == RowKind::Table ? 1U : 0U;

    for (auto change = changed.rbegin(); change != changed.rend(); ++change) {
      memory_[change->first] = change->second;
    }
  }
  EXPECT_GT(still_tables, 0u);
  EXPECT_LT(still_tables, 20000u);
  EXPECT_EQ(row().kind, RowKind::Table);
}

TEST_F(TablesToSpoil, EndWhereTheirMemoryEnds) {
  for (std::size_t kept = 0; kept < pages_ && kept < 64 * kPage; kept += kPage) {
    ASSERT_EQ(mprotect(memory_, pages_, PROT_NONE), 0);
    if (kept > 0) {
      ASSERT_EQ(mprotect(memory_, kept, PROT_READ), 0);
    }
    (void)row();
  }
  ASSERT_EQ(mprotect(memory_, pages_, PROT_READ), 0);
  EXPECT_EQ(row().kind, RowKind::Table);
}

// Registers as a smashed stack gives them: a walk reads only what is there.
TEST(DamagedStacks, EndTheWalk) {
  constexpr std::size_t kBytes = 4 * kPage;
  auto* const memory =
      static_cast<char*>(mmap(nullptr, kBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  char* const stack = memory + kPage;
  ASSERT_EQ(mprotect(stack, kBytes, PROT_READ | PROT_WRITE), 0);
  std::mt19937_64 random{11};  // NOLINT(cert-msc51-cpp): the same each time
  const auto low = reinterpret_cast<std::uintptr_t>(stack);
  const std::uintptr_t code = some_function();
  unsigned went = 0;
  for (int round = 0; round < 20000; ++round) {
    for (std::size_t at = 0; at < kBytes; at += 256) {
      const std::uintptr_t choices[] = {random(), code + random() % 512, low + random() % (2 * kBytes), random() % 8};
      const std::uintptr_t word = choices[random() % 4];
      std::memcpy(stack + at + (random() % 32) * 8, &word, sizeof word);
    }
    Frame frame{.pc = code + random() % 512,
                .sp = low + random() % kBytes / 8 * 8,
                .fp = random() % 2 == 0 ? random() : low + random() % kBytes,
                .fp_known = random() % 8 != 0,
                .interrupted = random() % 8 == 0};
    WalkState state{.memory = StackMemory{frame.sp}};
    for (int steps = 0; steps < 100 && step(frame, state) == Step::Went; ++steps) {
      ++went;
    }
  }
  munmap(memory, kBytes + 2 * kPage);
  EXPECT_GT(went, 0u);
}

}  // namespace
}  // namespace tidemark::stacks
