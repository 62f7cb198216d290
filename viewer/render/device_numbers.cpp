#include "viewer/render/device_numbers.hpp"

#include "shared/segment/counter_list.hpp"
#include "shared/segment/derive.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

template <class Integer>
void append_number(std::string& text, Integer value) {
  std::array<char, 24> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

template <class Integer>
void append_member(std::string& text, std::string_view name, Integer value) {
  text += '"';
  text += name;
  text += "\":";
  append_number(text, value);
}

// What stands before each number: {"first": ,"second": ...
class StatNames {
 public:
  StatNames() {
    for (const auto& stat : segment::counter_list()) {
      names_.push_back(std::string{names_.empty() ? "{\"" : ",\""} + std::string{stat.key} + "\":");
      longest_ += names_.back().size() + kMostDigits;
    }
  }

  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
  [[nodiscard]] std::size_t longest() const { return longest_; }  // with their numbers

 private:
  static constexpr std::size_t kMostDigits = 20;  // of a 64-bit number with its sign

  std::vector<std::string> names_;
  std::size_t longest_ = 0;
};

}  // namespace

// A document of many devices is mostly these: the names come as one piece each, and room is made once.
void append_stats(std::string& text, const DeviceBasis& basis) {
  static const StatNames names;
  const std::size_t begin = text.size();
  text.resize(begin + names.longest());
  char* at = text.data() + begin;
  char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < names.all().size(); ++i) {
    at = std::copy(names.all()[i].begin(), names.all()[i].end(), at);
    at = std::to_chars(at, end, segment::stat_value(basis, segment::StatKey{static_cast<std::uint32_t>(i)})).ptr;
  }
  text.resize(static_cast<std::size_t>(at - text.data()));
  text += '}';
}

void append_kinds(std::string& text, const std::optional<DeviceKindCounts>& kinds) {
  if (!kinds) {
    text += "null";
    return;
  }
  for (std::size_t i = 0; i < kDeviceKinds; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    const KindCount& count = (*kinds)[kind];
    text += i == 0 ? "{\"" : ",\"";
    text += to_text(kind);
    text += "\":{";
    append_member(text, "current_bytes", count.current_bytes);
    text += ',';
    append_member(text, "peak_bytes", count.peak_bytes);
    text += ',';
    append_member(text, "current_count", count.current_count);
    text += ',';
    append_member(text, "total_count", count.total_count);
    text += ",\"on_device\":";
    text += is_on_device(kind) ? "true}" : "false}";
  }
  text += '}';
}

}  // namespace tidemark::viewer
