// Processes with segments, for tests of what becomes of them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <span>
#include <stdexcept>
#include <string>

#include "shared/segment/enumerate.hpp"
#include "shared/segment/writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {

inline constexpr segment::CompanionFile kCompanion{.bytes = 4096,
                                                   .fill = [](std::span<std::byte>, std::uint64_t) noexcept {}};

inline segment::SegmentListing list(const TemporaryDirectory& directory) {
  const std::string& path = directory.path();
  return segment::list_segments({&path, 1});
}

inline segment::GcResult collect(const TemporaryDirectory& directory, const segment::GcOptions& options) {
  const std::string& path = directory.path();
  return segment::collect_garbage({&path, 1}, options);
}

// Makes everything in the directory look old enough for whatever waits before it removes.
inline void age(const TemporaryDirectory& directory) {
  for (const std::string& name : directory.entries()) {
    const timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (directory / name).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
}

// A process with a segment and one device that waits to be ended.
class Host {
 public:
  explicit Host(const TemporaryDirectory& directory, segment::Backing backing = segment::Backing::Named)
      : child_([&] {
          segment::WriterOptions options = options_in(directory);
          options.backing = backing;
          options.control = &kCompanion;
          auto made = segment::SegmentWriter::create(options);
          if (!made || !made.value().claim_device(sample_device(), sample_basis())) {
            return 1;
          }
          ready_.ring();
          for (;;) {
            ::pause();
          }
          return 0;
        }) {
    if (!ready_.wait()) {
      throw std::runtime_error{"the host could not make its segment"};
    }
  }
  Child& child() { return child_; }

 private:
  Bell ready_;
  Child child_;
};

}  // namespace tidemark::test
