// The process's window to its viewers: the segment, its control file, and who answers requests.
//
// Threads: start() once, alone; the rest any. Errors: start() says why there is no segment; everything else then does
// nothing, and the program goes on unpublished.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "shared/control/host.hpp"
#include "shared/segment/writer.hpp"
#include "shim/publish/device_sink.hpp"
#include "shim/publish/mode_board.hpp"
#include "shim/publish/request_desk.hpp"
#include "shim/publish/service_thread.hpp"

namespace tidemark::publish {

class Publisher final : private ServiceWork {
 public:
  using CountHooks = segment::HookCounts (*)() noexcept;

  struct Settings {
    segment::WriterOptions segment;
    segment::ControlPolicy control = segment::ControlPolicy::Full;
    segment::ProcessMode mode = segment::ProcessMode::Cache;
    std::string_view mode_reason{};  // of a kind that outlives the process
    bool has_thread = true;
    CountHooks count_hooks = nullptr;
  };

  Status start(const Settings& settings) noexcept;

  // Makes a device visible and lets viewers act on it. Requires: both are never destroyed.
  void add_device(alloc::DeviceCache& cache, DeviceSink& sink, bool has_background_driver_calls) noexcept;

  // Inside a call of the program, after its own work: what was waiting for that, and without a thread also requests, at
  // most every 100 ms. Costs two loads when there is nothing.
  void after_program_call() noexcept {
    if (desk_.has_deferred()) {
      settle_deferred();
    }
    if (polls_in_calls_.load(std::memory_order_relaxed)) {
      poll_in_call();
    }
  }

  void set_layer(segment::Layer layer) noexcept;
  void set_flag(segment::ProcessFlag flag) noexcept;
  // An error of ours, that the program never noticed.
  void count_error(const Error& error) noexcept;

  // At the end of the process: the counters stay readable for who has them open; the files go unless they are to be
  // kept.
  void finish(bool keeps_files) noexcept;

  // From any thread: start() has succeeded, the rest has something to work on.
  [[nodiscard]] bool is_published() const noexcept { return is_published_.load(std::memory_order_acquire); }

 private:
  void serve_once() noexcept override;
  void beat() noexcept;
  void poll_in_call() noexcept;
  void settle_deferred() noexcept;

  std::optional<segment::SegmentWriter> writer_;
  ModeBoard mode_;
  RequestDesk desk_;
  std::optional<control::ControlHost> control_;
  CountHooks count_hooks_ = nullptr;
  std::atomic<bool> is_published_{false};
  std::atomic<bool> polls_in_calls_{false};
  bool has_polled_ = false;  // the service thread's own
  std::atomic<std::uint64_t> next_beat_ns_{0};
  std::atomic<std::uint64_t> next_poll_ns_{0};
};

}  // namespace tidemark::publish
