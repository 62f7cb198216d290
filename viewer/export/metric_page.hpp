// One page of samples and its two texts: Prometheus' and OpenMetrics'. Pure; made anew for every scrape.
//
//   MetricPage page;
//   const LabelSet gpu = page.labels({{"backend", "cuda"}, {"uuid", "GPU-..."}});
//   page.add(Metric::DeviceCapacity, gpu, capacity);
//   send(page.text(TextFormat::Prometheus));
#pragma once

#include "viewer/export/metric_list.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark::viewer {

enum class TextFormat { Prometheus, OpenMetrics };

[[nodiscard]] std::string_view content_type(TextFormat format);

// Which of the two a client's Accept header asks for; Prometheus' where it doesn't say.
[[nodiscard]] TextFormat format_for(std::string_view accept);

// Labels of a page, kept once for all samples that have them.
enum class LabelSet : std::uint32_t { None = 0 };

class MetricPage {
 public:
  using Label = std::pair<std::string_view, std::string_view>;

  MetricPage();

  // One with an empty value is left out: to a server it is the same as none.
  [[nodiscard]] LabelSet labels(std::initializer_list<Label> labels);
  // `base` and one label more.
  [[nodiscard]] LabelSet with(LabelSet base, std::string_view name, std::string_view value);

  void add(Metric metric, LabelSet labels, std::uint64_t value) { add_value(metric, labels, value); }
  void add(Metric metric, LabelSet labels, double value) { add_value(metric, labels, value); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string text(TextFormat format) const;

 private:
  using Value = std::variant<std::uint64_t, double>;
  struct Sample {
    LabelSet labels;
    Value value;
  };

  void add_value(Metric metric, LabelSet labels, Value value);
  void append(std::string& text, Metric metric, TextFormat format) const;

  std::vector<std::string> labels_;  // `backend="cuda",uuid="..."`
  std::array<std::vector<Sample>, kMetrics> samples_;
  std::size_t size_ = 0;
};

}  // namespace tidemark::viewer
