#include "viewer/export/metric_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";

void append_label(std::string& text, std::string_view name, std::string_view value) {
  text += text.empty() ? "" : ",";
  text += name;
  text += "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') {
      text += '\\';
    }
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  text += '"';
}

// A help text of ours: no line end, nothing to escape but a backslash; OpenMetrics wants quotes escaped as well.
std::string help_text(std::string_view help, TextFormat format) {
  std::string text;
  for (const char c : help) {
    if (c == '\\' || (c == '"' && format == TextFormat::OpenMetrics)) {
      text += '\\';
    }
    text += c;
  }
  return text;
}

std::string_view type_text(MetricType type, TextFormat format) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Info:
      return format == TextFormat::OpenMetrics ? "info" : "gauge";
    case MetricType::Gauge:
      break;
  }
  return "gauge";
}

std::string_view unit_text(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::Bytes:
      return "bytes";
    case MetricUnit::Seconds:
      return "seconds";
    case MetricUnit::None:
      break;
  }
  return "";
}

// OpenMetrics names a family without what its samples' names end in.
std::string_view family_name(const MetricInfo& info, TextFormat format) {
  std::string_view name = info.name;
  if (format == TextFormat::OpenMetrics) {
    name.remove_suffix(info.type == MetricType::Counter ? kTotal.size()
                       : info.type == MetricType::Info  ? kInfo.size()
                                                        : 0);
  }
  return name;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// Takes what stands before the first `mark` off `text`.
std::string_view take_part(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return result;
}

// How much a media range of an Accept header is wanted: 1 unless it has a "q".
double weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = take_part(parameters, ';');
    if (lower(take_part(value, '=')) == "q") {
      double weight = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), weight);
      return error == std::errc{} ? weight : 0;
    }
  }
  return 1;
}

}  // namespace

std::string_view content_type(TextFormat format) {
  return format == TextFormat::OpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                           : "text/plain; version=0.0.4; charset=utf-8";
}

TextFormat format_for(std::string_view accept) {
  double open_metrics = 0;
  std::optional<double> plain;
  double anything = 0;
  while (!accept.empty()) {
    std::string_view range = take_part(accept, ',');
    const std::string type = lower(take_part(range, ';'));
    const double weight = weight_of(range);
    if (type == "application/openmetrics-text") {
      open_metrics = std::max(open_metrics, weight);
    } else if (type == "text/plain") {
      plain = std::max(plain.value_or(0), weight);
    } else if (type == "*/*" || type == "text/*") {
      anything = std::max(anything, weight);
    }
  }
  return open_metrics > 0 && open_metrics >= plain.value_or(anything) ? TextFormat::OpenMetrics
                                                                      : TextFormat::Prometheus;
}

MetricPage::MetricPage() : labels_(1) {}

LabelSet MetricPage::labels(std::initializer_list<Label> labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!value.empty()) {
      append_label(text, name, value);
    }
  }
  labels_.push_back(std::move(text));
  return static_cast<LabelSet>(labels_.size() - 1);
}

LabelSet MetricPage::with(LabelSet base, std::string_view name, std::string_view value) {
  std::string text = labels_[static_cast<std::size_t>(base)];
  append_label(text, name, value);
  labels_.push_back(std::move(text));
  return static_cast<LabelSet>(labels_.size() - 1);
}

void MetricPage::add_value(Metric metric, LabelSet labels, Value value) {
  samples_[static_cast<std::size_t>(metric)].push_back({labels, value});
  ++size_;
}

void MetricPage::append(std::string& text, Metric metric, TextFormat format) const {
  const std::vector<Sample>& samples = samples_[static_cast<std::size_t>(metric)];
  if (samples.empty()) {
    return;
  }
  const MetricInfo& info = info_of(metric);
  const std::string_view family = family_name(info, format);
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "# HELP {} {}\n# TYPE {} {}\n", family, help_text(info.help, format), family,
                 type_text(info.type, format));
  if (format == TextFormat::OpenMetrics && info.unit != MetricUnit::None) {
    fmt::format_to(out, "# UNIT {} {}\n", family, unit_text(info.unit));
  }
  for (const Sample& sample : samples) {
    const std::string& labels = labels_[static_cast<std::size_t>(sample.labels)];
    text += info.name;
    if (!labels.empty()) {
      text += '{';
      text += labels;
      text += '}';
    }
    std::visit([&](auto value) { fmt::format_to(out, " {}\n", value); }, sample.value);
  }
}

std::string MetricPage::text(TextFormat format) const {
  constexpr std::size_t kBytesOfFamily = 200;
  constexpr std::size_t kBytesOfSample = 160;
  std::string text;
  text.reserve(kMetrics * kBytesOfFamily + size_ * kBytesOfSample);
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    append(text, static_cast<Metric>(metric), format);
  }
  text += format == TextFormat::OpenMetrics ? "# EOF\n" : "";
  return text;
}

}  // namespace tidemark::viewer
