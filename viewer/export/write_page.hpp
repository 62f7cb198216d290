// Turns what is known at one moment into the samples of a page. Pure.
#pragma once

#include "viewer/export/books.hpp"
#include "viewer/export/known_devices.hpp"
#include "viewer/export/metric_page.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tidemark::viewer {

// What a page tells of the exporter itself.
struct ExporterState {
  bool is_up = false;
  double look_seconds = 0;
  bool has_windows = false;         // somebody samples peaks
  std::string driver_version = {};  // of the machine's GPUs; empty: unknown
};

[[nodiscard]] MetricPage write_page(const Books& books, const std::vector<KnownDevice>& devices,
                                    const ExporterState& state, std::chrono::steady_clock::time_point now,
                                    ReaderSet reader);

}  // namespace tidemark::viewer
