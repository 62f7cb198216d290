// The snapshot document: PyTorch's names, and nothing lost on the way there and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/viewer/history/documents.hpp"
#include "tests/viewer/history/sample_memory.hpp"
#include "viewer/history/json_reader.hpp"
#include "viewer/history/pickle_reader.hpp"
#include "viewer/history/read_document.hpp"
#include "viewer/history/replay.hpp"
#include "viewer/history/report_json.hpp"

namespace tidemark::viewer {
namespace {

using history::Action;
using history::BlockState;
using nlohmann::json;
using test::json_of;
using test::kSampleBase;
using test::kSampleMiB;
using test::pickle_of;
using test::sample_snapshot;
using test::SampleMemory;
using testing::ElementsAre;

MemorySnapshot of_device(const SampleMemory& memory) {
  MemorySnapshot snapshot;
  snapshot.recording.enabled = history::Enabled::All;
  snapshot.devices.push_back(memory.device());
  snapshot.stacks.emplace_back();
  return snapshot;
}

std::vector<std::string> actions_of(const json& trace) {
  std::vector<std::string> actions;
  for (const json& event : trace) {
    actions.push_back(event["action"]);
  }
  return actions;
}

TEST(SnapshotDocument, HasTheFieldsOfASegmentAsPyTorchNamesThem) {
  const json document = json::parse(json_of(sample_snapshot()));

  ASSERT_EQ(document["segments"].size(), 2U);
  const json& large = document["segments"][1];
  EXPECT_EQ(large["device"], 0);
  EXPECT_EQ(large["address"], kSampleBase + 2 * kSampleMiB);
  EXPECT_EQ(large["total_size"], 4 * kSampleMiB);
  EXPECT_EQ(large["allocated_size"], 3 * kSampleMiB);
  EXPECT_EQ(large["active_size"], 3 * kSampleMiB);
  EXPECT_EQ(large["requested_size"], 3 * kSampleMiB);
  EXPECT_EQ(large["stream"], 0);
  EXPECT_EQ(large["segment_type"], "large");
  EXPECT_EQ(large["segment_pool_id"], json::parse("[0,0]"));
  EXPECT_EQ(large["is_expandable"], false);
  EXPECT_EQ(large["frames"][0]["name"], "load(batch const&)");
  EXPECT_EQ(document["segments"][0]["segment_type"], "small");
  EXPECT_EQ(document["segments"][0]["frames"], json::array());
}

TEST(SnapshotDocument, HasBlocksThatFillTheirSegment) {
  const json document = json::parse(json_of(sample_snapshot()));

  const json& blocks = document["segments"][0]["blocks"];
  std::vector<std::string> states;
  std::uint64_t at = kSampleBase;
  for (const json& block : blocks) {
    EXPECT_EQ(block["address"], at);
    at += block["size"].get<std::uint64_t>();
    states.push_back(block["state"]);
  }
  EXPECT_EQ(at, kSampleBase + 2 * kSampleMiB);
  EXPECT_THAT(states, ElementsAre("active_allocated", "active_allocated", "inactive", "active_allocated",
                                  "active_pending_free", "inactive"));
  EXPECT_EQ(blocks[0]["size"], 512);
  EXPECT_EQ(blocks[0]["requested_size"], 100);
  EXPECT_EQ(blocks[0]["older"], true);
  EXPECT_EQ(blocks[0]["frames"][0]["name"], std::string{kBeforeRecording});
  const json& frame = blocks[1]["frames"][0];
  EXPECT_EQ(frame["name"], "forward(int)");
  EXPECT_EQ(frame["filename"], "model.cpp");
  EXPECT_EQ(frame["line"], 7);
}

TEST(SnapshotDocument, HasEventsWithWhatTheProgramAskedFor) {
  const json document = json::parse(json_of(sample_snapshot()));

  ASSERT_EQ(document["device_traces"].size(), 1U);
  const json& trace = document["device_traces"][0];
  EXPECT_THAT(actions_of(trace),
              ElementsAre("segment_alloc", "alloc", "alloc", "alloc", "alloc", "alloc", "free_requested",
                          "free_completed", "peak_reset", "free_requested", "oom"));
  const json& small = trace[4];
  EXPECT_EQ(small["size"], 600);
  EXPECT_EQ(small["block_size"], 1024);
  EXPECT_EQ(small["stream"], 0);
  EXPECT_EQ(small["frames"].size(), 2U);
  EXPECT_EQ(small["time_us"].get<std::uint64_t>() / 1'000'000, test::kSampleStart / 1'000'000'000 + 70);
  EXPECT_FALSE(trace[7].contains("frames"));
  EXPECT_EQ(trace[10]["device_free"], 7 * kSampleMiB);
  EXPECT_EQ(trace[10]["size"], 100 * kSampleMiB);
  EXPECT_FALSE(trace[10].contains("addr"));
}

TEST(SnapshotDocument, HasTheOtherPartsThatPyTorchHas) {
  MemorySnapshot snapshot = sample_snapshot();
  snapshot.source.settings = "max_split_size_mb:64";
  const json document = json::parse(json_of(snapshot));

  EXPECT_EQ(document["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"], "max_split_size_mb:64");
  EXPECT_EQ(document["external_annotations"], json::array());
  EXPECT_EQ(document["tidemark"]["pid"], 4711);
  EXPECT_EQ(document["tidemark"]["devices"][0]["device"], "cuda:0");
}

TEST(SnapshotDocument, GivesEachDeviceOfTwoBackendsANumberOfItsOwn) {
  MemorySnapshot snapshot;
  for (const auto& [backend, ordinal] : {std::pair{segment::Backend::Mtia, 0U}, {segment::Backend::Cuda, 1U}}) {
    SampleMemory memory{backend, ordinal};
    memory.add_segment(2 * kSampleMiB, false);
    snapshot.devices.push_back(memory.device());
  }
  const json document = json::parse(json_of(snapshot));

  EXPECT_EQ(document["segments"][0]["device"], 2);
  EXPECT_EQ(document["segments"][1]["device"], 1);
  ASSERT_EQ(document["device_traces"].size(), 3U);
  EXPECT_TRUE(document["device_traces"][0].empty());
  EXPECT_EQ(document["device_traces"][1].size(), 1U);
}

TEST(SnapshotDocument, NumbersDevicesAnewWhereTheirNumbersCannotBe) {
  MemorySnapshot snapshot;
  for (const std::uint32_t ordinal : {4'000'000'000U, 1U}) {
    snapshot.devices.push_back(SampleMemory{segment::Backend::Cuda, ordinal}.device());
  }

  EXPECT_THAT(document_indices(snapshot.devices), ElementsAre(0, 1));
}

// memory_viz goes back through the events and stops with an exception at what cannot have been.
TEST(SnapshotDocument, LeavesOutEventsThatDoNotFitWithWhatIsThere) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  const std::uint64_t lost = memory.allocate(1000);
  memory.allocate(2000);
  memory.free(lost);
  MemorySnapshot snapshot = of_device(memory);
  std::vector<history::Event>& events = snapshot.devices[0].events;
  events.erase(events.begin() + 3);  // its free was requested

  test::TextSink sink;
  JsonWriter writer{sink};
  const WrittenDocument document = write_document(snapshot, writer);
  writer.finish();

  EXPECT_EQ(document.left_out, 2U);
  EXPECT_EQ(document.events, 2U);
  EXPECT_THAT(actions_of(json::parse(sink.text())["device_traces"][0]), ElementsAre("alloc", "free_completed"));
}

void expect_same(const MemorySnapshot& read, const MemorySnapshot& written) {
  ASSERT_EQ(read.devices.size(), written.devices.size());
  EXPECT_EQ(read.source.title, written.source.title);
  EXPECT_EQ(read.recording.pid, written.recording.pid);
  EXPECT_EQ(read.recording.enabled, written.recording.enabled);
  EXPECT_EQ(read.time_ns(), written.time_ns());
  for (std::size_t i = 0; i < read.devices.size(); ++i) {
    const history::Device& a = read.devices[i];
    const history::Device& b = written.devices[i];
    EXPECT_EQ(device_name(a.info), device_name(b.info));
    ASSERT_EQ(a.segments.size(), b.segments.size());
    for (std::size_t j = 0; j < a.segments.size(); ++j) {
      EXPECT_EQ(a.segments[j].address, b.segments[j].address);
      EXPECT_EQ(a.segments[j].is_large, b.segments[j].is_large);
      ASSERT_EQ(a.segments[j].blocks.size(), b.segments[j].blocks.size());
      for (std::size_t k = 0; k < a.segments[j].blocks.size(); ++k) {
        const history::Block& x = a.segments[j].blocks[k];
        const history::Block& y = b.segments[j].blocks[k];
        EXPECT_EQ(std::tie(x.address, x.size, x.requested, x.state, x.birth_ns, x.is_older),
                  std::tie(y.address, y.size, y.requested, y.state, y.birth_ns, y.is_older));
        EXPECT_EQ(frames_of(read, x), frames_of(written, y));
      }
    }
    ASSERT_EQ(a.events.size(), b.events.size());
    for (std::size_t j = 0; j < a.events.size(); ++j) {
      const history::Event& x = a.events[j];
      const history::Event& y = b.events[j];
      EXPECT_EQ(std::tie(x.number, x.action, x.address, x.size, x.time_ns, x.device_free),
                std::tie(y.number, y.action, y.address, y.size, y.time_ns, y.device_free));
      EXPECT_EQ(frames_at(read, x.stack), frames_at(written, y.stack));
    }
  }
}

TEST(SnapshotDocument, ComesBackFromPickleAndJsonAsItWas) {
  const MemorySnapshot snapshot = sample_snapshot();

  expect_same(read_document(read_pickle(pickle_of(snapshot))), snapshot);
  expect_same(read_document(read_json(json_of(snapshot))), snapshot);
}

TEST(SnapshotDocument, OfAnyRunComesBackAndGoesBackToItsBeginning) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SampleMemory memory;
    run_at_random(memory, seed, 500, 2);
    MemorySnapshot snapshot = of_device(memory);
    snapshot.stacks = test::sample_stacks();
    const Replay past = replay(memory.device());

    EXPECT_EQ(past.first, 0U) << seed;
    EXPECT_EQ(past.moments.front().allocated, 0U);
    EXPECT_EQ(past.moments.front().reserved, 0U);
    EXPECT_TRUE(past.earlier.empty());
    expect_same(read_document(read_pickle(pickle_of(snapshot))), snapshot);
  }
}

// As torch.cuda.memory._snapshot() of PyTorch 2.6 writes it: no `tidemark`, no sizes of blocks in the events.
TEST(SnapshotDocument, OfPyTorchItselfIsReadToo) {
  const MemorySnapshot snapshot = read_document(read_json(R"({
    "segments": [{"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 1024, "active_size": 1024,
                  "requested_size": 1000, "stream": 0, "segment_type": "small", "segment_pool_id": [0, 0],
                  "is_expandable": false, "frames": [],
                  "blocks": [{"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated",
                              "frames": [{"name": "f", "filename": "a.py", "line": 3}]},
                             {"address": 5120, "size": 2096128, "requested_size": 0, "state": "inactive",
                              "frames": []}]}],
    "device_traces": [[{"action": "segment_alloc", "addr": 4096, "size": 2097152, "stream": 0, "time_us": 1},
                       {"action": "alloc", "addr": 4096, "size": 1000, "stream": 0, "time_us": 2}]],
    "allocator_settings": {}, "external_annotations": []})"));

  ASSERT_EQ(snapshot.devices.size(), 1U);
  EXPECT_EQ(device_name(snapshot.devices[0].info), "cuda:0");
  EXPECT_TRUE(snapshot.has_guessed_sizes);
  EXPECT_EQ(snapshot.devices[0].events[1].size, 1024U);
  EXPECT_EQ(frames_of(snapshot, snapshot.devices[0].segments[0].blocks[0])[0].name, "f");
  EXPECT_EQ(replay(snapshot.devices[0], false).moments.size(), 3U);
}

TEST(SnapshotDocument, IsNoneWithoutSegmentsOrWithAHoleInOne) {
  EXPECT_THROW((void)read_document(read_json(R"({"devices": []})")), BadDocument);
  EXPECT_THROW((void)read_document(read_json(R"([1])")), BadDocument);
  EXPECT_THROW((void)read_document(read_json(R"({"segments": [{"address": 0, "total_size": 8, "blocks": []}]})")),
               BadDocument);
}

// Whatever is in a file: it is refused in words, or read and told.
TEST(SnapshotDocument, DamagedAnywhereIsRefusedOrTold) {
  const std::string pickle = pickle_of(sample_snapshot());
  const std::string text = json_of(sample_snapshot());
  std::mt19937 random{1};
  int told = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = i % 2 == 0 ? pickle : text;
    for (int k = 0; k < 1 + i % 3; ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    try {
      const MemorySnapshot snapshot = read_document(i % 2 == 0 ? read_pickle(bytes) : read_json(bytes));
      EXPECT_FALSE(report_json(report_of(snapshot, 10)).empty());
      EXPECT_FALSE(pickle_of(snapshot).empty());
      ++told;
    } catch (const BadDocument&) {
    }
  }
  EXPECT_GT(told, 100);
}

TEST(JsonReader, RefusesWhatEndsEarlyAtEveryByte) {
  const std::string text = json_of(sample_snapshot());
  const std::size_t end = text.find_last_of('}');

  for (std::size_t length = 0; length <= end; length += 17) {
    EXPECT_THROW((void)read_json(text.substr(0, length)), BadDocument) << length;
  }
}

TEST(JsonReader, RefusesEndlessNesting) { EXPECT_THROW((void)read_json(std::string(1000, '[')), BadDocument); }

TEST(Replay, TellsWhatWasInUseAfterEachEvent) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  const std::uint64_t first = memory.allocate(512);
  memory.allocate(1024);
  memory.request_free(first);

  const Replay past = replay(memory.device());

  std::vector<std::uint64_t> allocated;
  for (const Moment& moment : past.moments) {
    allocated.push_back(moment.allocated);
  }
  EXPECT_THAT(allocated, ElementsAre(0, 0, 512, 1536, 1024));
  EXPECT_EQ(past.moments[1].reserved, 2 * kSampleMiB);
}

TEST(Replay, KnowsWhatWasThereBeforeTheFirstEvent) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  const std::uint64_t older = memory.allocate(512);
  memory.begin_recording();
  memory.free(older);

  const Replay past = replay(memory.device());

  ASSERT_EQ(past.earlier.size(), 1U);
  EXPECT_EQ(past.earlier[0].address, older);
  EXPECT_EQ(past.moments.front().allocated, 512U);
  EXPECT_EQ(past.moments.back().allocated, 0U);
}

}  // namespace
}  // namespace tidemark::viewer
