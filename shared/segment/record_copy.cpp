#include "shared/segment/record_copy.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "shared/segment/liveness.hpp"
#include "shared/segment/own_identity.hpp"

namespace tidemark::segment {
namespace {

constexpr std::array<std::uint64_t, 6> kSleepsNs = {50'000, 200'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000};

void sleep_ns(std::uint64_t duration) {
  const timespec time{.tv_sec = static_cast<time_t>(duration / 1'000'000'000),
                      .tv_nsec = static_cast<long>(duration % 1'000'000'000)};
  ::nanosleep(&time, nullptr);
}

bool read_sequence(int fd, std::uint64_t offset, std::uint64_t& sequence) {
  return read_exactly(fd, std::as_writable_bytes(std::span{&sequence, 1}), offset);
}

}  // namespace

bool read_exactly(int fd, std::span<std::byte> bytes, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(got);
  }
  return true;
}

CopyOutcome copy_record(int fd, std::uint64_t offset, std::span<std::uint64_t> words,
                        const ReadBudget& budget) noexcept {
  const auto bytes = std::as_writable_bytes(words);
  const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
  std::uint64_t before = 0;
  if (!read_sequence(fd, offset, before)) {
    return CopyOutcome::Failed;
  }
  std::uint64_t moved_at = start;
  std::uint64_t at_last_pause = before;
  std::size_t sleeps = 0;
  for (std::uint32_t tries = 1;; ++tries) {
    // The kernel copies for us with loads of its own: fences keep the three reads in order on this processor.
    fence_after_words();
    if ((before & 1) == 0 && !read_exactly(fd, bytes, offset)) {
      return CopyOutcome::Failed;
    }
    fence_after_words();
    std::uint64_t after = 0;
    if (!read_sequence(fd, offset, after)) {
      return CopyOutcome::Failed;
    }
    // The copy's own first word is compared too: an 8-byte read of the kernel is not promised to be one load.
    if ((before & 1) == 0 && after == before && words[0] == before) {
      return CopyOutcome::Consistent;
    }
    before = after;
    if (tries % budget.tries_before_sleep != 0) {
      continue;
    }
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    const bool is_still = after == at_last_pause;
    const std::uint64_t still_for = now - moved_at;
    if (is_still ? still_for >= budget.still_ns || !is_locked(fd) : now - start >= budget.busy_ns) {
      return read_exactly(fd, bytes, offset) ? CopyOutcome::Approximate : CopyOutcome::Failed;
    }
    if (is_still) {
      // Preempted or stopped; a dead one has no lock. Sleeping gives a preempted writer this processor.
      sleep_ns(std::min(kSleepsNs[std::min(sleeps++, kSleepsNs.size() - 1)], budget.still_ns - still_for));
    } else {
      moved_at = now;
      sleeps = 0;
    }
    at_last_pause = after;
  }
}

}  // namespace tidemark::segment
