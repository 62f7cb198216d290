// What the process publishes of its own accord, without a viewer.
#include "shim/publish/publisher.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/segment/enumerate.hpp"
#include "shim/alloc/device_cache.hpp"
#include "tests/shared/scratch.hpp"
#include "tests/support/fake_upstream.hpp"

namespace tidemark::test {
namespace {

// No thread: everything happens in the program's calls, so a test says when.
class PublishedDevice {
 public:
  PublishedDevice() {
    publish::Publisher::Settings settings;
    settings.segment.directory = directory_.path().c_str();
    settings.has_thread = false;
    EXPECT_TRUE(publisher.start(settings).ok());
  }
  ~PublishedDevice() { publisher.finish(false); }

  void add() { EXPECT_TRUE(publisher.add_device({.cache = &cache_, .sink = &sink_}).ok()); }
  [[nodiscard]] alloc::DevicePtr allocated() { return cache_.allocate(kContext, 1_MiB).value(); }
  [[nodiscard]] std::uint32_t birth_of(alloc::DevicePtr ptr) { return cache_.find(ptr)->birth_beat; }
  [[nodiscard]] std::uint64_t beats_seen() const {
    const std::string directories[] = {directory_.path()};
    const segment::SegmentListing found = segment::list_segments(directories);
    return found.segments.size() == 1 ? found.segments.front().reader.globals().heartbeat_count : 0;
  }

  publish::Publisher publisher;

 private:
  TemporaryDirectory directory_;
  FakeUpstream device_;
  alloc::SegmentMap map_;
  publish::DeviceSink sink_{sample_device()};
  alloc::DeviceCache cache_{device_, &sink_, map_, alloc::Policy::mtia_default()};
};

TEST(Beat, IsWhereBlocksAreBorn) {
  PublishedDevice device;
  device.add();

  const alloc::DevicePtr before = device.allocated();
  device.publisher.after_program_call();  // the first in which a beat is due
  const alloc::DevicePtr after = device.allocated();

  EXPECT_EQ(device.birth_of(before), 0U);
  EXPECT_EQ(device.beats_seen(), 1U);
  EXPECT_EQ(device.birth_of(after), 1U) << "the number that readers see";
}

TEST(Beat, IsKnownToADeviceThatComesLater) {
  PublishedDevice device;
  device.publisher.after_program_call();

  device.add();

  EXPECT_EQ(device.birth_of(device.allocated()), 1U);
}

}  // namespace
}  // namespace tidemark::test
