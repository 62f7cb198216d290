// What is recorded of a device: random programs, stopped again and again, whose history has to fit its blocks.
#include "shim/publish/device_recorder.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "shared/history/reader.hpp"
#include "shared/history/snapshot_image.hpp"
#include "shim/alloc/device_cache.hpp"
#include "tests/shared/scratch.hpp"
#include "tests/support/fake_upstream.hpp"
#include "tests/support/history_check.hpp"

namespace tidemark::test {
namespace {

using alloc::DeviceCache;
using alloc::DevicePtr;
using alloc::Policy;
using history::Action;
using Present = publish::DeviceRecorder::Present;

constexpr std::uint32_t kRecording = 3;

class RecordedDevice {
 public:
  explicit RecordedDevice(const Policy& policy, const history::DeviceSizes& sizes = {4096, 4096, 4096})
      : cache{std::make_unique<DeviceCache>(device, nullptr, map, policy, 8_GiB)} {
    EXPECT_TRUE(live_.make({}, {}, {&sizes, 1}).ok());
  }
  ~RecordedDevice() { cache->set_history(nullptr, nullptr); }

  void record(Present present = Present::Older) {
    live_.device(0).describe(sample_device(), 0, 1);
    ASSERT_TRUE(recorder.begin(live_.device(0), present, kRecording));
    cache->set_history(&recorder, &recorder.first_look());
  }
  // As whoever finds the file.
  [[nodiscard]] history::Device read() { return read(live_); }
  // As a request for a snapshot finds it.
  [[nodiscard]] history::Device snapshot(bool with_history = true) {
    history::SnapshotImage image;
    const history::DeviceSizes sizes{4096, 4096, 4096};
    EXPECT_TRUE(image.make({}, {}, {&sizes, 1}).ok());
    image.device(0).describe(sample_device(), 0, 1);
    publish::SnapshotVisitor visitor{image.device(0), with_history ? &recorder : nullptr};
    cache->show_to(visitor);
    EXPECT_TRUE(visitor.is_complete());
    return read(image);
  }

  [[nodiscard]] DevicePtr allocated(Bytes size, alloc::ContextId context = kContext) {
    return cache->allocate(context, size).value();
  }

  FakeUpstream device{8_GiB};
  alloc::SegmentMap map;
  publish::DeviceRecorder recorder;
  std::unique_ptr<DeviceCache> cache;

 private:
  [[nodiscard]] history::Device read(const history::SnapshotImage& image) {
    const TemporaryDirectory directory;
    const std::string path = directory / "image";
    EXPECT_TRUE(image.save(path.c_str()).ok());
    return history::HistoryReader::open(path).value().read().value().devices.at(0);
  }

  history::SnapshotImage live_;
};

std::vector<Action> actions_of(const history::Device& device) {
  std::vector<Action> actions;
  for (const history::Event& event : device.events) {
    actions.push_back(event.action);
  }
  return actions;
}

// Two devices that have the same, whatever they know of the past.
void expect_same_blocks(const history::Device& one, const history::Device& other) {
  ASSERT_EQ(one.segments.size(), other.segments.size());
  for (std::size_t i = 0; i < one.segments.size(); ++i) {
    const history::Segment& a = one.segments[i];
    const history::Segment& b = other.segments[i];
    EXPECT_EQ(a.address, b.address);
    EXPECT_EQ(a.is_pinned, b.is_pinned);
    EXPECT_EQ(a.passed_through, b.passed_through);
    ASSERT_EQ(a.blocks.size(), b.blocks.size());
    for (std::size_t k = 0; k < a.blocks.size(); ++k) {
      EXPECT_EQ(a.blocks[k].address, b.blocks[k].address);
      EXPECT_EQ(a.blocks[k].size, b.blocks[k].size);
      EXPECT_EQ(a.blocks[k].state, b.blocks[k].state);
      EXPECT_EQ(a.blocks[k].requested, b.blocks[k].requested);
      EXPECT_EQ(a.blocks[k].stack, b.blocks[k].stack);
      EXPECT_EQ(a.blocks[k].birth_ns, b.blocks[k].birth_ns);
    }
  }
}

TEST(Recorder, TellsOfAMissAHitAndAFree) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();

  const DevicePtr first = recorded.allocated(1000_B);
  ASSERT_TRUE(recorded.cache->release(first).ok());
  const DevicePtr second = recorded.allocated(1000_B);

  const history::Device device = recorded.read();
  EXPECT_EQ(actions_of(device), (std::vector{Action::SegmentAlloc, Action::Alloc, Action::FreeRequested,
                                             Action::FreeCompleted, Action::Alloc}));
  EXPECT_EQ(device.events[1].address, first.address());
  EXPECT_EQ(device.events[1].requested, 1000U);
  EXPECT_EQ(device.events[1].size, 1024U);
  EXPECT_EQ(device.events[4].address, second.address());
  EXPECT_EQ(what_is_wrong(device), "");
}

TEST(Recorder, KeepsAStackWithEachLiveBlockAndShowsItAtTheFree) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();
  publish::stack_of_call = {.number = 7, .recording = kRecording};
  const DevicePtr kept = recorded.allocated(4_KiB);
  publish::stack_of_call = {.number = 8, .recording = kRecording};
  const DevicePtr freed = recorded.allocated(4_KiB);
  publish::stack_of_call = {};
  ASSERT_TRUE(recorded.cache->release(freed).ok());

  // No table of stacks is written here, so the numbers themselves are looked at.
  EXPECT_EQ(recorded.recorder.born(1).stack + recorded.recorder.born(2).stack + recorded.recorder.born(3).stack, 15U);
  EXPECT_EQ(what_is_wrong(recorded.read()), "");
  ASSERT_TRUE(recorded.cache->release(kept).ok());
}

// A recording ended and another began while the call was under way: the number means another stack there.
TEST(Recorder, LeavesOutAStackThatWasTakenForAnotherRecording) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();
  publish::stack_of_call = {.number = 7, .recording = kRecording - 1};

  const DevicePtr block = recorded.allocated(4_KiB);
  publish::stack_of_call = {};

  for (const alloc::BlockIndex index : {1U, 2U, 3U}) {
    EXPECT_EQ(recorded.recorder.born(index).stack, 0U);
  }
  ASSERT_TRUE(recorded.cache->release(block).ok());
}

TEST(Recorder, KnowsWhatIsOlderThanItself) {
  RecordedDevice recorded{Policy::cuda_default()};
  const DevicePtr old = recorded.allocated(4_KiB);

  recorded.record();
  const DevicePtr fresh = recorded.allocated(4_KiB);

  const history::Device device = recorded.read();
  EXPECT_EQ(what_is_wrong(device), "");
  ASSERT_EQ(device.segments.size(), 1U);
  unsigned met = 0;
  for (const history::Block& block : device.segments[0].blocks) {
    if (block.state == history::BlockState::Allocated) {
      EXPECT_EQ(block.is_older, block.address == old.address());
      EXPECT_EQ(block.birth_ns.has_value(), block.address == fresh.address());
      ++met;
    }
  }
  EXPECT_EQ(met, 2U);
}

TEST(Recorder, TellsWhatANewDeviceHasAsEvents) {
  RecordedDevice recorded{Policy::cuda_default()};
  const DevicePtr first = recorded.allocated(4_KiB);

  recorded.record(Present::New);

  const history::Device device = recorded.read();
  EXPECT_EQ(what_is_wrong(device), "");
  EXPECT_EQ(actions_of(device), (std::vector{Action::SegmentAlloc, Action::Alloc}));
  EXPECT_FALSE(device.segments.at(0).blocks.at(0).is_older);
  EXPECT_TRUE(device.segments.at(0).blocks.at(0).birth_ns.has_value());
  ASSERT_TRUE(recorded.cache->release(first).ok());
  EXPECT_EQ(what_is_wrong(recorded.read()), "");
}

TEST(Recorder, MarksPeakResetsAndOutOfMemory) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();
  const DevicePtr ptr = recorded.allocated(3_MiB);
  recorded.cache->reset_peaks();
  EXPECT_FALSE(recorded.cache->allocate(kContext, 16_GiB).ok());

  const history::Device device = recorded.read();

  ASSERT_GE(device.events.size(), 4U);
  const history::Event& reset = device.events[2];
  EXPECT_EQ(reset.action, Action::PeakReset);
  EXPECT_EQ(Bytes{reset.size}, 4_MiB);
  const history::Event& oom = device.events.back();
  EXPECT_EQ(oom.action, Action::OutOfMemory);
  EXPECT_EQ(Bytes{oom.requested}, 16_GiB);
  EXPECT_EQ(Bytes{oom.device_free}, 8_GiB - 4_MiB);
  EXPECT_EQ(what_is_wrong(device), "");
  ASSERT_TRUE(recorded.cache->release(ptr).ok());
}

TEST(Recorder, ShowsASnapshotInTheNextOne) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();
  const DevicePtr ptr = recorded.allocated(1000_B);

  const history::Device first = recorded.snapshot();
  const history::Device second = recorded.snapshot();

  EXPECT_EQ(first.events.back().action, Action::Alloc);
  EXPECT_EQ(second.events.back().action, Action::Snapshot);
  EXPECT_EQ(second.events.back().size, 1024U);
  ASSERT_TRUE(first.basis.has_value());
  EXPECT_EQ((*first.basis)[BasisWord::small_live_bytes], 1024U);
  ASSERT_TRUE(recorded.cache->release(ptr).ok());
}

TEST(Recorder, ShowsBlocksWithoutARecording) {
  RecordedDevice recorded{Policy::cuda_default()};
  const DevicePtr ptr = recorded.allocated(1000_B);

  const history::Device device = recorded.snapshot(false);

  EXPECT_EQ(what_is_wrong(device), "");
  EXPECT_TRUE(device.events.empty());
  EXPECT_EQ(device.segments.at(0).blocks.at(0).address, ptr.address());
  EXPECT_TRUE(device.segments[0].blocks[0].is_older);
}

TEST(Recorder, HearsNothingOnceItIsToldToEnd) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();
  recorded.cache->set_history(nullptr, nullptr);

  const DevicePtr ptr = recorded.allocated(1000_B);

  EXPECT_TRUE(recorded.read().events.empty());
  ASSERT_TRUE(recorded.cache->release(ptr).ok());
}

// A driver that refuses a free: the program has the block as before, and so has the history.
TEST(Recorder, TakesBackARefusedFree) {
  RecordedDevice recorded{Policy::cuda_default()};
  recorded.record();
  const DevicePtr ptr = recorded.allocated(1000_B);
  const auto born = recorded.read().segments.at(0).blocks.at(0).birth_ns;
  recorded.device.refuse_calls(true);

  EXPECT_FALSE(recorded.cache->release(ptr).ok());

  recorded.device.refuse_calls(false);
  const history::Device device = recorded.read();
  EXPECT_EQ(what_is_wrong(device), "");
  EXPECT_EQ(device.events.back().action, Action::Alloc);
  EXPECT_EQ(device.segments.at(0).blocks.at(0).state, history::BlockState::Allocated);
  EXPECT_EQ(device.segments.at(0).blocks.at(0).birth_ns, born);
}

struct Program {
  const char* name;
  Policy policy;
};

std::vector<Program> programs() {
  std::vector<Program> all{{"whole", Policy::cuda_default()}, {"split", Policy::mtia_default()}};
  Policy fast = Policy::cuda_default();
  fast.free_mode = alloc::FreeMode::Fast;
  all.push_back({"fast", fast});
  Policy counting = Policy::mtia_default();
  counting.mode = DeviceMode::Count;
  all.push_back({"count", counting});
  Policy limited = Policy::mtia_default();
  limited.limit = 96_MiB;
  limited.max_cached = 8_MiB;
  all.push_back({"limited", limited});
  return all;
}

// One step of a program that does everything there is.
class RandomProgram {
 public:
  RandomProgram(RecordedDevice& recorded, unsigned seed) : recorded_(recorded), random_(seed) {}

  void step() {
    DeviceCache& cache = *recorded_.cache;
    switch (random_() % 64) {
      case 0:
        static_cast<void>(cache.empty_cache());
        break;
      case 1:
        cache.reset_peaks();
        break;
      case 2:
        recorded_.device.fail_allocations(1);
        break;
      case 3:
        recorded_.device.fail_releases(1, {ErrorCode::Refused, kFakeNotPermitted});
        break;
      case 4:
        recorded_.device.begin_capture();
        break;
      case 5:
      case 6:
        recorded_.device.end_capture();
        break;
      case 7:
        leave_context(random_() % 2 == 0);
        break;
      case 8:
        recorded_.device.submit_work();
        break;
      case 9:
        if (!held_.empty()) {
          static_cast<void>(cache.pin_segment(held_[random_() % held_.size()]));
        }
        break;
      default:
        random_() % 2 == 0 ? take() : give();
    }
  }

 private:
  void take() {
    static constexpr std::uint64_t kSizes[] = {1,       512,      3000,    70'000, 1 << 20, (1 << 20) + 1,
                                               5 << 20, 12 << 20, 30 << 20};
    const std::uint64_t size = kSizes[random_() % std::size(kSizes)] + random_() % 600;
    if (const auto ptr = recorded_.cache->allocate(context_, Bytes{size})) {
      held_.push_back(ptr.value());
    }
  }
  void give() {
    if (held_.empty()) {
      return;
    }
    const std::size_t at = random_() % held_.size();
    const Status freed = random_() % 8 == 0 ? recorded_.cache->release_later(held_[at], alloc::StreamHandle{})
                                            : recorded_.cache->release(held_[at]);
    if (freed.ok()) {
      held_[at] = held_.back();
      held_.pop_back();
    }
  }
  void leave_context(bool succeeds) {
    recorded_.cache->detach_context(context_);
    if (!succeeds) {
      recorded_.cache->reattach(context_);
      return;
    }
    recorded_.device.destroy_context(context_);
    recorded_.cache->forget_detached(context_);
    held_.clear();
    context_ = alloc::ContextId{static_cast<std::uint64_t>(context_) + 1};
  }

  RecordedDevice& recorded_;
  std::mt19937 random_;
  alloc::ContextId context_ = kContext;
  std::vector<DevicePtr> held_;
};

TEST(Recorder, IsSoundWheneverARandomProgramIsStopped) {
  for (const Program& program : programs()) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      RecordedDevice recorded{program.policy, {.ring = 300, .blocks = 4096, .segments = 4096}};
      RandomProgram running{recorded, seed};
      for (unsigned i = 0; i < seed * 40; ++i) {
        running.step();
      }
      recorded.record();
      for (unsigned stop = 0; stop < 12; ++stop) {
        for (unsigned i = 0; i < 25 + stop * 13; ++i) {
          running.step();
        }
        const history::Device device = recorded.read();
        EXPECT_EQ(what_is_wrong(device), "") << program.name << ", seed " << seed << ", stop " << stop;
        expect_same_blocks(device, recorded.snapshot());
        if (HasFailure()) {
          return;
        }
      }
      EXPECT_STREQ(recorded.cache->check_invariants(), nullptr);
    }
  }
}

}  // namespace
}  // namespace tidemark::test
