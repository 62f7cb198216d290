// Another process: its segment is read, and its control file asked.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "client/library/subject.hpp"
#include "shared/control/client.hpp"
#include "shared/segment/reader.hpp"

namespace tidemark::client {

class OtherProcess final : public Subject {
 public:
  // Failure: NO_SUCH_PROCESS, AMBIGUOUS, PERMISSION, BAD_SEGMENT, WRONG_VERSION.
  [[nodiscard]] static std::unique_ptr<OtherProcess> open(std::string_view target);

  explicit OtherProcess(segment::SegmentReader reader);

  [[nodiscard]] const segment::ProcessIdentity& identity() const { return reader_.identity(); }
  [[nodiscard]] segment::ProcessState state();
  [[nodiscard]] std::int64_t pid();

  [[nodiscard]] std::vector<DeviceName> devices() override;
  [[nodiscard]] DeviceBasis counters(const DeviceWord& device) override;
  [[nodiscard]] MemoryFigures memory_info(const DeviceWord& device) override;
  void reset(Reset what, const DeviceWord& device) override;
  void empty_cache(const DeviceWord& device) override;
  void set_limit(const DeviceWord& device, std::uint64_t bytes) override;
  void record(history::Enabled enabled, history::Stacks stacks, std::uint64_t max_entries) override;
  void stop_recording() override;
  void save_snapshot(const std::string& path) override;

 private:
  [[nodiscard]] std::vector<segment::DeviceSnapshot> read();
  [[nodiscard]] segment::DeviceSnapshot find(const DeviceWord& device);
  [[nodiscard]] std::uint32_t slot_of(const DeviceWord& device);
  // The slot of the control file that was used. Requires: mutex_.
  std::uint32_t ask(const control::Order& order, std::chrono::milliseconds timeout);
  std::uint32_t ask_patiently(const control::Order& order);
  void act(control::Operation operation, const DeviceWord& device, std::uint64_t argument,
           std::chrono::milliseconds timeout);

  std::mutex mutex_;  // the reader is for one thread at a time
  segment::SegmentReader reader_;
  const bool was_dead_;
};

}  // namespace tidemark::client
