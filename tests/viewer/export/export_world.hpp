// Made-up processes for the exporter's books, and a clock that only the test turns.
#pragma once

#include "viewer/export/books.hpp"
#include "viewer/export/known_devices.hpp"
#include "viewer/export/write_page.hpp"

#include "tests/viewer/sample_view.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tidemark::viewer {

using Seconds = std::chrono::seconds;

class BooksWorld {
 public:
  explicit BooksWorld(const BookOptions& options = {}) : books(options) {}

  // A process with one device in `view`; its basis may be changed until the look.
  static ProcessView process(std::uint64_t nonce, const std::string& command, const SampleUse& use = {},
                             std::uint32_t ordinal = 0) {
    ProcessView made =
        sample_process({.id = segment_id(nonce), .pid = static_cast<std::int64_t>(nonce), .command = command},
                       {sample_device(segment::Backend::Cuda, ordinal, use)});
    made.snapshot.identity.nonce = nonce;
    made.snapshot.identity.rank = {};
    return made;
  }
  static std::string segment_id(std::uint64_t nonce) {
    std::string id = std::to_string(nonce);
    return std::string(8 - id.size(), '0') + id;
  }
  static ProcessView ended(ProcessView process, segment::ProcessState state = segment::ProcessState::Killed) {
    process.snapshot.state = state;
    return process;
  }
  // With other numbers than before, which its figures follow.
  template <class Change>
  static ProcessView changed(ProcessView process, Change change) {
    for (DeviceView& device : process.devices) {
      change(device.snapshot.basis);
      device.figures = figures_of(device.snapshot);
    }
    return process;
  }

  // A look, `after` the one before.
  void look(std::vector<ProcessView> processes, Seconds after = Seconds{1}) {
    now += after;
    View view{.host = "node7", .time_ns = kSampleNow, .processes = std::move(processes), .hidden = {}, .skipped = {}};
    books.take(std::move(view), unasked, now);
  }

  // Of a page that is served, to one reader or another.
  std::string page(ReaderSet reader = 1) {
    KnownDevices devices;
    std::string text =
        write_page(books, devices.take(books.view(), now),
                   {.is_up = true, .look_seconds = 0.001, .has_windows = books.options().is_lasting}, now, reader)
            .text(TextFormat::Prometheus);
    books.mark_shown(reader);
    return text;
  }
  // The value of the one sample that begins so and has these labels somewhere; nothing: no such sample.
  std::optional<double> value(const std::string& name, const std::vector<std::string>& labels = {},
                              ReaderSet reader = 1) {
    std::optional<double> found;
    std::istringstream lines(page(reader));
    for (std::string line; std::getline(lines, line);) {
      bool is_meant = line.starts_with(name + '{') || line.starts_with(name + ' ');
      for (const std::string& label : labels) {
        is_meant = is_meant && line.find(label) != std::string::npos;
      }
      if (is_meant) {
        found = found.value_or(0) + std::stod(line.substr(line.rfind(' ') + 1));
      }
    }
    return found;
  }

  Books books;
  std::unordered_set<std::uint64_t> unasked;
  Books::Clock::time_point now{Seconds{1000}};
};

}  // namespace tidemark::viewer
