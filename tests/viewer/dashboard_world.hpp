// The screen of top over the sample of made-up processes.
#pragma once

#include "viewer/tui/controls.hpp"
#include "viewer/tui/dashboard.hpp"

#include "tests/viewer/in_utf8_and_utc.hpp"
#include "tests/viewer/sample_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::viewer {

class Dashboard : public InUtf8AndUtc {
 protected:
  void SetUp() override {
    InUtf8AndUtc::SetUp();
    take_sample(state_, sample_, {80, 24});
    sample_.looked_at_ns = 1000 * kSampleSecond;
    history_ = sawtooth(sample_.looked_at_ns);
  }

  // A minute and a half of a program that fills a GiB in half a minute, frees it, and begins anew.
  static std::vector<HistoryPoint> sawtooth(std::uint64_t now_ns) {
    std::vector<HistoryPoint> points;
    std::uint64_t peak = 0;
    for (std::uint64_t second = 0; second <= 90; ++second) {
      const std::uint64_t allocated = second % 30 * (1_GiB).count() / 29;
      peak = std::max(peak, allocated);
      points.push_back({.time_ns = now_ns - (90 - second) * kSampleSecond,
                        .is_good_for_ns = 2 * kSampleSecond,
                        .allocated = allocated,
                        .reserved = second < 10 ? (1_GiB).count() : (1536_MiB).count(),
                        .peak = peak});
    }
    return points;
  }

  [[nodiscard]] Canvas drawn(Size size) const { return draw_dashboard(sample_, history_, state_, size); }
  [[nodiscard]] std::string screen(Size size) const { return drawn(size).text(); }

  // Everything that can be seen: the table and each page.
  [[nodiscard]] static std::vector<UiState> all_screens(const UiState& state) {
    std::vector<UiState> states(5, state);
    states[1].help = true;
    states[2].devices = true;
    states[3].detail = state.selected;
    states[4].detail = RowKey{"11112222", ""};  // without a device
    return states;
  }

  Sample sample_{.view = sample_view()};
  View& view_ = sample_.view;
  std::vector<HistoryPoint> history_;
  UiState state_;
};

}  // namespace tidemark::viewer
