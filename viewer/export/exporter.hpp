// The exporter without its sockets: looks, samples peaks, and makes the pages.
//
// Threads: one at a time. No call waits for a process, and only a single look (not is_lasting) for the driver: what
// they haven't said yet is not on the page.
#pragma once

#include "viewer/export/books.hpp"
#include "viewer/export/known_devices.hpp"
#include "viewer/export/metric_page.hpp"
#include "viewer/export/peak_watch.hpp"
#include "viewer/export/timeline.hpp"
#include "viewer/export/write_page.hpp"
#include "viewer/node/node_watch.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

class Exporter {
 public:
  using Clock = std::chrono::steady_clock;

  Exporter(std::vector<std::filesystem::path> directories, const BookOptions& options);

  // What has to be done by now: a look and a round of peaks every second, and answers to take. Until when there is
  // nothing to do.
  std::chrono::milliseconds tick();

  // From a look of its own, for a reader of this name, who takes it: not with HEAD.
  [[nodiscard]] std::string metrics(TextFormat format, std::string_view reader, bool is_taken);
  // `ps --json`, and what the live page draws.
  [[nodiscard]] std::string ps_document();
  [[nodiscard]] std::string live_document();

 private:
  void look(Clock::time_point now);
  void sweep_now_and_then(Clock::time_point now);

  std::vector<std::filesystem::path> directories_;
  Books books_;
  Readers readers_;
  PeakWatch peaks_;
  KnownDevices devices_;
  Timeline timeline_;
  NodeWatch node_;
  ExporterState state_;
  Clock::time_point next_round_{};
  Clock::time_point next_everywhere_{};
  Clock::time_point next_sweep_;
};

}  // namespace tidemark::viewer
