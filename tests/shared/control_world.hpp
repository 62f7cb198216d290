// A host with a control file, and a handler that says what it was asked.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shared/control/client.hpp"
#include "shared/control/host.hpp"
#include "shared/segment/enumerate.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {

// Answers every request with its own arguments, or with what `next` says.
class RecordingHandler : public control::RequestHandler {
 public:
  control::Answer handle(const control::Request& request) noexcept override {
    const std::lock_guard guard{mutex_};
    requests_.push_back(request);
    control::Answer answer{.status = next_, .detail = detail_, .results = {}};
    std::copy(request.arguments.begin(), request.arguments.end(), answer.results.begin());
    return answer;
  }
  bool withdraw(const control::Request& request) noexcept override {
    const std::lock_guard guard{mutex_};
    withdrawn_.push_back(request);
    return may_withdraw_;
  }

  void answer_with(segment::AckStatus status, const char* detail = "") {
    const std::lock_guard guard{mutex_};
    next_ = status;
    detail_ = detail;
  }
  void allow_withdrawal(bool allowed) {
    const std::lock_guard guard{mutex_};
    may_withdraw_ = allowed;
  }
  [[nodiscard]] std::vector<control::Request> requests() const {
    const std::lock_guard guard{mutex_};
    return requests_;
  }
  [[nodiscard]] std::size_t withdrawals() const {
    const std::lock_guard guard{mutex_};
    return withdrawn_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<control::Request> requests_;
  std::vector<control::Request> withdrawn_;
  segment::AckStatus next_ = segment::AckStatus::Done;
  const char* detail_ = "";
  bool may_withdraw_ = true;
};

struct ControlWorld {
  explicit ControlWorld(segment::ControlPolicy policy = segment::ControlPolicy::Full,
                        segment::Backing backing = segment::Backing::Named)
      : writer(make(backing)), host(writer, handler, policy) {}

  segment::SegmentWriter make(segment::Backing backing) const {
    segment::WriterOptions options = options_in(directory);
    options.control = &control::companion_file();
    options.backing = backing;
    return segment::SegmentWriter::create(options).value();
  }
  [[nodiscard]] segment::SegmentReader reader() const { return segment::SegmentReader::open(writer.path()).value(); }
  [[nodiscard]] std::string control_path() const { return std::string{writer.path()} + ".ctl"; }

  TemporaryDirectory directory;
  segment::SegmentWriter writer;
  RecordingHandler handler;
  control::ControlHost host;
};

// The service thread, for tests that want one.
class Service {
 public:
  explicit Service(control::ControlHost& host)
      : host_(host), thread_([this] {
          while (!is_over_) {
            host_.poll();
            host_.wait(std::chrono::milliseconds{100});
          }
        }) {}
  ~Service() {
    is_over_ = true;
    host_.wake();
    thread_.join();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

 private:
  control::ControlHost& host_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// What the host finds in a slot, written as a viewer would.
inline void write_record(const ControlWorld& world, std::uint32_t slot, const control::RequestRecord& record) {
  const segment::FileHandle file{::open(world.control_path().c_str(), O_WRONLY | O_CLOEXEC)};
  const auto offset = static_cast<off_t>(offsetof(control::ControlImage, slots) + slot * sizeof record);
  ASSERT_EQ(::pwrite(file.get(), &record, sizeof record, offset), static_cast<ssize_t>(sizeof record));
}

inline control::RequestRecord record_of(std::uint64_t ticket,
                                        control::Operation operation = control::Operation::ResetPeak) {
  control::RequestRecord record;
  record.ticket = ticket;
  record.operation = static_cast<std::uint32_t>(operation);
  record.checksum = control::checksum_of(record);
  return record;
}

}  // namespace tidemark::test
