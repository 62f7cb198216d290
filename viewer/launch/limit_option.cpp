#include "viewer/launch/limit_option.hpp"

#include "viewer/exit_code.hpp"

#include "shared/base/size_text.hpp"
#include "shared/segment/process_words.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kExample = "8GiB,cuda:0=4GiB,mtia=80%";

// Whose limit it is: everybody's, a backend's, or one device's.
struct Scope {
  std::string_view text;
  std::string_view backend;
  std::optional<unsigned> ordinal;

  [[nodiscard]] bool includes(const Scope& other) const {
    return backend.empty() || (backend == other.backend && (!ordinal || ordinal == other.ordinal));
  }
};

[[noreturn]] void refuse(std::string_view item, std::string_view reason) {
  throw Failure(ExitCode::Usage, fmt::format("run: --limit '{}': {}; for example {}", item, reason, kExample));
}

std::optional<unsigned> number(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional{value} : std::nullopt;
}

void check_amount(std::string_view item, std::string_view amount) {
  if (amount.ends_with('%')) {
    const auto percent = number(amount.substr(0, amount.size() - 1));
    if (!percent || *percent == 0 || *percent > 100) {
      refuse(item, "a percentage is a whole number from 1% to 100%");
    }
  } else if (parse_size(amount).value_or(Bytes{}).count() == 0) {
    refuse(item, fmt::format("'{}' is no size above 0 ({}) and no percentage", amount, kSizeForms));
  }
}

Scope scope_of(std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return {};
  }
  const std::string_view device = item.substr(0, equals);
  const std::size_t colon = device.find(':');
  const std::string_view backend = device.substr(0, colon);
  if (backend != "cuda" && backend != "mtia") {
    refuse(item, fmt::format("'{}' is no device: cuda, mtia, cuda:N or mtia:N", device));
  }
  if (colon == std::string_view::npos) {
    return {.text = device, .backend = backend, .ordinal = std::nullopt};
  }
  const auto ordinal = number(device.substr(colon + 1));
  if (!ordinal || *ordinal >= segment::kDeviceSlots) {
    refuse(item, fmt::format("N of {}:N is the program's own number of the device, from 0 to {}", backend,
                             segment::kDeviceSlots - 1));
  }
  return {.text = device, .backend = backend, .ordinal = ordinal};
}

}  // namespace

std::string limit_setting(std::span<const std::string> values) {
  const std::string all = fmt::format("{}", fmt::join(values, ","));
  std::vector<Scope> before;
  std::string_view rest = all;
  for (bool more = true; more;) {
    const std::size_t end = rest.find(',');
    const std::string_view item = rest.substr(0, end);
    more = end != std::string_view::npos;
    rest.remove_prefix(more ? end + 1 : rest.size());
    const Scope scope = scope_of(item);
    check_amount(item, item.substr(item.find('=') + 1));
    for (const Scope& earlier : before) {
      if (scope.includes(earlier)) {
        const std::string whose = earlier.text.empty() ? "every device" : std::string{earlier.text};
        refuse(item, earlier.includes(scope)
                         ? fmt::format("there is a limit of {} already", whose)
                         : fmt::format("it would take the limit of {} back; put the general one first", whose));
      }
    }
    before.push_back(scope);
  }
  return all;
}

}  // namespace tidemark::viewer
