// What becomes of a program's NVTX calls, right and wrong ones, with a measure that only writes down.
#include "shim/nvtx/ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shim/nvtx/injection.hpp"
#include "shim/nvtx/process_number.hpp"

namespace tidemark::nvtx {
namespace {

using testing::ElementsAre;

constexpr const char* kNothing = nullptr;

class WrittenDown final : public Measure {
 public:
  Mark begin() noexcept override {
    const std::lock_guard lock{mutex_};
    return open_ < room ? (++open_, ++last_) : kNoRoom;
  }
  void end(const Range& range) noexcept override {
    const std::string domain = range.domain == nullptr ? "" : std::string{range.domain->view()} + ":";
    const std::string message{range.message == nullptr ? "(other)" : range.message->view()};
    const std::lock_guard lock{mutex_};
    ended.push_back(domain + message);
    marks.push_back(range.mark);
    open_ -= range.mark == kNoRoom ? 0 : 1;
  }
  void drop(Mark mark) noexcept override {
    const std::lock_guard lock{mutex_};
    open_ -= mark == kNoRoom ? 0 : 1;
  }

  int room = 64;
  std::vector<std::string> ended;
  std::vector<Mark> marks;

 private:
  std::mutex mutex_;
  int open_ = 0;
  Mark last_ = 0;
};

class NvtxRanges : public testing::Test {
 protected:
  int push(const char* name, DomainHandle domain = nullptr) { return ranges().push(domain, MessageText{name}); }
  int pop(DomainHandle domain = nullptr) { return ranges().pop(domain); }
  RangeId start(const char* name) { return ranges().start(nullptr, MessageText{name}); }
  // In a thread of the test's own, so that each test begins without a stack.
  template <class Work>
  static void in_thread(Work&& work) {
    std::thread{std::forward<Work>(work)}.join();
  }
  Ranges& ranges() { return *ranges_; }

  WrittenDown measure_;
  std::unique_ptr<Ranges> ranges_ = std::make_unique<Ranges>(measure_);
};

TEST_F(NvtxRanges, AnswerTheLevelOfEachDomainsOwnStack) {
  in_thread([&] {
    const DomainHandle domain = ranges().create_domain(MessageText{"d"});

    EXPECT_EQ(push("a"), 0);
    EXPECT_EQ(push("b"), 1);
    EXPECT_EQ(push("c", domain), 0);
    EXPECT_EQ(pop(), 1);
    EXPECT_EQ(pop(domain), 0);
    EXPECT_EQ(pop(), 0);
  });

  EXPECT_THAT(measure_.ended, ElementsAre("b", "d:c", "a"));
}

TEST_F(NvtxRanges, OfEachThreadAreItsOwn) {
  in_thread([&] {
    EXPECT_EQ(push("outer"), 0);
    in_thread([&] {
      EXPECT_EQ(pop(), kNothingOpen);
      EXPECT_EQ(push("inner"), 0);
      EXPECT_EQ(pop(), 0);
    });
    EXPECT_EQ(pop(), 0);
  });

  EXPECT_THAT(measure_.ended, ElementsAre("inner", "outer"));
}

TEST_F(NvtxRanges, ThatWereNeverPushedEndNothing) {
  in_thread([&] {
    EXPECT_EQ(pop(), kNothingOpen);
    EXPECT_EQ(push("one"), 0);
    EXPECT_EQ(pop(), 0);
    EXPECT_EQ(pop(), kNothingOpen);
    EXPECT_EQ(push("two"), 0) << "a pop too many leaves no hole";
  });
}

TEST_F(NvtxRanges, StartedAnywhereEndOnceAnywhere) {
  const RangeId first = start("first");
  const RangeId second = start("second");
  EXPECT_NE(first, 0U);
  EXPECT_NE(first, second);

  std::thread{[&] { ranges().end(first); }}.join();
  ranges().end(first);
  for (const RangeId unknown : {RangeId{0}, RangeId{1}, RangeId{4711}, first + (RangeId{1} << 32), ~RangeId{0}}) {
    ranges().end(unknown);
  }

  EXPECT_THAT(measure_.ended, ElementsAre("first"));
}

TEST_F(NvtxRanges, HaveANumberAlsoWhereTooManyAreStarted) {
  std::vector<RangeId> ids;
  for (std::size_t i = 0; i < StartedRanges::kMost + 10; ++i) {
    ids.push_back(start("many"));
    ASSERT_NE(ids.back(), 0U);
  }
  for (const RangeId id : ids) {
    ranges().end(id);
  }

  EXPECT_EQ(measure_.ended.size(), StartedRanges::kMost);
  ranges().end(start("after"));
  EXPECT_EQ(measure_.ended.back(), "after");
}

TEST_F(NvtxRanges, DeeperThanAStackAreFollowedAndNotMeasured) {
  in_thread([&] {
    const int depth = static_cast<int>(ThreadStacks::kMostRanges) + 20;
    for (int i = 0; i < depth; ++i) {
      EXPECT_EQ(push("deep"), i);
    }
    for (int i = depth; i-- > 0;) {
      EXPECT_EQ(pop(), i);
    }
    EXPECT_EQ(pop(), kNothingOpen);
  });

  EXPECT_EQ(measure_.ended.size(), ThreadStacks::kMostRanges);
}

TEST_F(NvtxRanges, OfThreadsThatAreGoneMakeRoom) {
  measure_.room = 3;
  for (int i = 0; i < 100; ++i) {
    in_thread([&] { (void)push("left open"); });
  }

  in_thread([&] {
    (void)push("measured");
    (void)pop();
  });

  EXPECT_THAT(measure_.ended, ElementsAre("measured"));
  EXPECT_GT(measure_.marks.at(0), 0);
}

TEST_F(NvtxRanges, HaveStacksForAsManyThreadsAsCome) {
  for (std::size_t i = 0; i < 3 * ThreadStacks::kMostThreads; ++i) {
    in_thread([&] {
      EXPECT_EQ(push("one"), 0);
      EXPECT_EQ(pop(), 0);
    });
  }

  EXPECT_EQ(measure_.ended.size(), 3 * ThreadStacks::kMostThreads);
}

TEST_F(NvtxRanges, AreNamedWhateverTheProgramGives) {
  EventAttributes attributes{};
  attributes.size = sizeof attributes;
  attributes.message_type = static_cast<std::int32_t>(MessageType::Registered);
  attributes.message.registered = ranges().register_string(MessageText{"registered"});
  EventAttributes unknown = attributes;
  unknown.message_type = 77;
  EventAttributes cut = attributes;
  cut.size = 40;
  EventAttributes foreign = attributes;
  foreign.message.registered = &foreign;
  for (const EventAttributes* given :
       {static_cast<const EventAttributes*>(&attributes), static_cast<const EventAttributes*>(nullptr),
        static_cast<const EventAttributes*>(&unknown), static_cast<const EventAttributes*>(&cut),
        static_cast<const EventAttributes*>(&foreign)}) {
    ranges().end(ranges().start(nullptr, given));
  }
  ranges().end(start(kNothing));

  EXPECT_THAT(measure_.ended, ElementsAre("registered", "(no name)", "(no name)", "(no name)", "(other)", "(no name)"));
}

TEST_F(NvtxRanges, ShareADomainWhereThereAreTooMany) {
  std::vector<DomainHandle> handles;
  for (std::uint32_t i = 0; i < Ranges::kMostDomains + 5; ++i) {
    handles.push_back(ranges().create_domain(MessageText{std::to_string(i).c_str()}));
    ASSERT_NE(handles.back(), nullptr);
  }

  EXPECT_EQ(ranges().create_domain(MessageText{"3"}), handles[3]) << "known ones stay known";
  EXPECT_EQ(handles.back(), handles[Ranges::kMostDomains]);
  in_thread([&] {
    EXPECT_EQ(push("m", handles.back()), 0);
    EXPECT_EQ(pop(handles.back()), 0);
    EXPECT_EQ(push("m", &measure_), 0) << "nobody's handle";
    EXPECT_EQ(pop(&measure_), 0);
  });
  EXPECT_THAT(measure_.ended, ElementsAre("(other)", "(other)"));
}

TEST_F(NvtxRanges, BeyondAsManyNamesAsThereIsRoomForAreOthers) {
  for (std::uint32_t i = 0; i < Ranges::kMostMessages + 2; ++i) {
    ranges().end(start(("name " + std::to_string(i)).c_str()));
  }
  ranges().end(start("name 0"));

  ASSERT_EQ(measure_.ended.size(), Ranges::kMostMessages + 3);
  EXPECT_EQ(measure_.ended[Ranges::kMostMessages - 1], "name " + std::to_string(Ranges::kMostMessages - 1));
  EXPECT_EQ(measure_.ended[Ranges::kMostMessages], "(other)");
  EXPECT_EQ(measure_.ended.back(), "name 0");
}

TEST_F(NvtxRanges, OfAParentAreNotTheChildsToMeasure) {
  in_thread([&] {
    EXPECT_EQ(push("parent's"), 0);
    const RangeId started = start("parent's");
    const std::uint32_t parent = process_number();
    const pid_t child = fork();
    if (child == 0) {
      const bool is_apart = process_number() != parent;
      const bool is_popped = pop() == 0 && pop() == kNothingOpen;
      ranges().end(started);
      const bool is_silent = measure_.ended.empty();
      const bool is_own = push("own") == 0 && pop() == 0 && measure_.ended == std::vector<std::string>{"own"};
      _exit(is_apart && is_popped && is_silent && is_own ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(pop(), 0);
    ranges().end(started);
  });

  EXPECT_THAT(measure_.ended, ElementsAre("parent's", "parent's"));
}

// One kind of name in many threads at once, each with its own stack, and numbers that change hands.
TEST_F(NvtxRanges, OfManyThreadsAtOnceAreAllCounted) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 500;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([this, number] {
      for (int i = 0; i < kRounds; ++i) {
        (void)push(("name " + std::to_string((number + i) % 50)).c_str());
        const RangeId id = start("started");
        (void)pop();
        ranges().end(id);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  EXPECT_EQ(measure_.ended.size(), 2U * kThreads * kRounds);
}

std::string text_of(const char* message) { return std::string{MessageText{message}.operation()}; }

TEST(MessageText, IsWithoutWhatPyTorchPutsBehindAnOperation) {
  EXPECT_EQ(text_of("aten::mm, seq = 12"), "aten::mm");
  EXPECT_EQ(text_of("aten::mm, seq = 12, op_id = 7, sizes = [[2, 3]], input_op_ids = [(1,0)]"), "aten::mm");
  EXPECT_EQ(text_of("aten::mm, op_id = 7"), "aten::mm");
  EXPECT_EQ(text_of("aten::mm, sizes = [[], [3]]"), "aten::mm");

  EXPECT_EQ(text_of("load, seq = all"), "load, seq = all");
  EXPECT_EQ(text_of("load, sizes = 3"), "load, sizes = 3");
  EXPECT_EQ(text_of(", seq = 12"), ", seq = 12");
  EXPECT_EQ(text_of("load, seq = "), "load, seq = ");
}

TEST(MessageText, OfWideCharactersIsUtf8) {
  EXPECT_EQ(MessageText{L"a\u00e9\u8303\U0001f600"}.view(), "a\u00e9\u8303\U0001f600");
  const wchar_t wrong[] = {0xd800, 0x110000, L'b', 0};
  EXPECT_EQ(MessageText{wrong}.view(),
            "\ufffd\ufffd"
            "b");
}

TEST(TextPool, KeepsTheBeginningUpToAWholeCharacter) {
  TextPool pool{4, 16};

  const PooledText* const text = pool.keep(std::string(PooledText::kMostBytes - 1, 'x') + "\u00e9");

  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->view(), std::string(PooledText::kMostBytes - 1, 'x'));
  EXPECT_EQ(pool.find(text), text);
  EXPECT_EQ(pool.find(reinterpret_cast<const char*>(text) + 1), nullptr);
  EXPECT_EQ(pool.find(text + 1000), nullptr);
  EXPECT_EQ(pool.find(nullptr), nullptr);
}

void theirs() {}
void ours() {}
Function place_of_theirs = &theirs;
Function* places[] = {nullptr, &place_of_theirs, nullptr};

int functions_of(Module module, FunctionTable* table, unsigned* size) {
  *table = places;
  *size = 2;
  return module == Module::Core ? 1 : 0;
}

TEST(NvtxInjection, WritesOnlyWhereAProgramHasAPlaceForIt) {
  static constexpr Callbacks kCallbacks{.struct_size = sizeof(Callbacks), .module_functions = &functions_of};
  static constexpr Callbacks kShort{.struct_size = 8, .module_functions = nullptr};
  const ExportTable tables = [](std::uint32_t id) -> const void* {
    return id == kCallbacksTable ? &kCallbacks : nullptr;
  };
  const ExportTable too_short = [](std::uint32_t) -> const void* { return &kShort; };
  const ExportTable none = [](std::uint32_t) -> const void* { return nullptr; };
  const std::vector<Follower> followers{{0, &ours}, {1, &ours}, {2, &ours}, {99, &ours}};

  EXPECT_FALSE(follow(nullptr, followers, followers));
  EXPECT_FALSE(follow(none, followers, followers));
  EXPECT_FALSE(follow(too_short, followers, followers));
  EXPECT_EQ(place_of_theirs, &theirs);
  EXPECT_TRUE(follow(tables, followers, followers));
  EXPECT_EQ(place_of_theirs, &ours);
  EXPECT_EQ(places[0], nullptr);
}

}  // namespace
}  // namespace tidemark::nvtx
