// Writes the snapshot of a run at random, for programs of other people to look at: viewer_sample_history FILE
#include <cstdio>

#include "tests/viewer/history/sample_memory.hpp"
#include "tests/viewer/history/saved_history.hpp"

int main(int argc, char** argv) {
  using namespace tidemark;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  test::SampleMemory memory;
  memory.add_segment(32 * test::kSampleMiB, true, 1);
  memory.allocate(24 * test::kSampleMiB, 1);
  test::run_at_random(memory, 1, 5000, 2);
  viewer::MemorySnapshot snapshot;
  snapshot.recording.kind = history::Kind::Snapshot;
  snapshot.recording.enabled = history::Enabled::All;
  snapshot.recording.stacks = history::Stacks::Python;
  snapshot.recording.taken_ns = memory.now_ns();
  snapshot.devices.push_back(memory.device());
  snapshot.stacks = test::sample_stacks();
  test::save_history(argv[1], snapshot);
  return 0;
}
