// The process's window to its viewers: the segment, its control file, and who answers requests.
//
// Threads: start() once, alone; the rest any. Errors: start() says why there is no segment; everything else then does
// nothing, and the program goes on unpublished.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "shared/control/host.hpp"
#include "shared/segment/writer.hpp"
#include "shim/publish/device_sink.hpp"
#include "shim/publish/historian.hpp"
#include "shim/publish/mode_board.hpp"
#include "shim/publish/range_board.hpp"
#include "shim/publish/request_desk.hpp"
#include "shim/publish/service_thread.hpp"

namespace tidemark::publish {

class Publisher final : private ServiceWork {
 public:
  using CountHooks = segment::HookCounts (*)() noexcept;
  using OnBeat = void (*)() noexcept;
  // Fills `entries` from the front; how many.
  using ReadCoverage = std::size_t (*)(std::span<segment::CoverageEntry> entries) noexcept;

  struct Settings {
    segment::WriterOptions segment;
    segment::ControlPolicy control = segment::ControlPolicy::Full;
    segment::ProcessMode mode = segment::ProcessMode::Cache;
    std::string_view mode_reason{};
    bool has_thread = true;
    CountHooks count_hooks = nullptr;
    OnBeat on_beat = nullptr;  // about once a second, in whatever thread beats: must not call the loader
    ReadCoverage read_coverage = nullptr;
  };

  Status start(const Settings& settings) noexcept;

  // Instead of start(), or after it failed: nothing is published, and `on_beat` comes inside the program's calls.
  void start_unpublished(OnBeat on_beat) noexcept;

  // Makes a device visible and lets viewers act on it. Requires: its parts are never destroyed. An error: it is not
  // recorded, where others are.
  Status add_device(const ServedDevice& device) noexcept;
  // What is recorded, also where nothing is published.
  [[nodiscard]] Historian& historian() noexcept { return historian_; }
  // The table of the program's named ranges.
  [[nodiscard]] RangeBoard& ranges() noexcept { return ranges_; }

  // The same for memory that is counted and not cached. Once, after start().
  void add_kinds(alloc::KindBooks& kinds) noexcept;

  void show_kinds(const DeviceSink& device, const DeviceKindCounts& counts) noexcept;
  void show_host_kinds(const HostKindCounts& counts) noexcept;

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

  void set_mode(segment::ProcessMode mode, std::string_view reason) noexcept;
  void set_inner_pool(segment::InnerPool pool) noexcept;
  void set_layer(segment::Layer layer) noexcept;
  void set_flag(segment::ProcessFlag flag) noexcept;
  // An error of ours, that the program never noticed.
  void count_error(const Error& error) noexcept;

  // At the end of the process: the counters stay readable for who has them open; the files go unless they are to be
  // kept.
  void finish(bool keeps_files) noexcept;

  // From any thread: start() has succeeded, the rest has something to work on.
  [[nodiscard]] bool is_published() const noexcept { return is_published_.load(std::memory_order_acquire); }
  // From any thread: the segment's number; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> nonce() const noexcept {
    return is_published() ? std::optional{writer_->nonce()} : std::nullopt;
  }

 private:
  void serve_once() noexcept override;
  void beat() noexcept;
  void show_coverage() noexcept;
  void poll_in_call() noexcept;
  void settle_deferred() noexcept;

  std::optional<segment::SegmentWriter> writer_;
  ModeBoard mode_;
  Historian historian_;
  RangeBoard ranges_;
  RequestDesk desk_{historian_};
  std::optional<control::ControlHost> control_;
  CountHooks count_hooks_ = nullptr;
  OnBeat on_beat_ = nullptr;
  ReadCoverage read_coverage_ = nullptr;
  std::atomic<bool> is_published_{false};
  std::atomic<bool> polls_in_calls_{false};
  bool has_polled_ = false;  // the service thread's own
  std::atomic<std::uint64_t> next_beat_ns_{0};
  std::atomic<std::uint64_t> next_poll_ns_{0};
};

}  // namespace tidemark::publish
