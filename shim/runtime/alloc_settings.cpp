#include "shim/runtime/alloc_settings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>

#include "shared/base/alloc_conf_keys.hpp"
#include "shared/base/size_text.hpp"

namespace tidemark::runtime {
namespace {

using alloc::Policy;

// The next item of `rest` up to a comma outside brackets; `rest` loses it and the comma.
std::string_view take_item(std::string_view& rest) noexcept {
  int depth = 0;
  std::size_t length = 0;
  for (; length < rest.size() && (rest[length] != ',' || depth > 0); ++length) {
    depth += rest[length] == '[' ? 1 : rest[length] == ']' ? -1 : 0;
  }
  const std::string_view item = rest.substr(0, length);
  rest.remove_prefix(std::min(length + 1, rest.size()));
  return item;
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<std::uint64_t> parse_count(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional{value}
                                                                                     : std::nullopt;
}

// 0..1, decimal point, no exponent. By hand: std::from_chars for a double brings libm and a constructor of libstdc++'s
// into every process (tests/gates).
std::optional<double> parse_share(std::string_view text) noexcept {
  double value = 0;
  double scale = 1;
  bool is_after_point = false;
  bool has_digit = false;
  for (const char c : text) {
    if (c == '.' && !is_after_point) {
      is_after_point = true;
    } else if (c >= '0' && c <= '9') {
      value = value * 10 + (c - '0');
      scale *= is_after_point ? 10 : 1;
      has_digit = true;
    } else {
      return std::nullopt;
    }
  }
  const double share = value / scale;
  return has_digit && share >= 0 && share <= 1 ? std::optional{share} : std::nullopt;
}

std::optional<Bytes> parse_mib(std::string_view text) noexcept {
  const auto count = parse_count(text);
  return count && *count < (1ULL << 40) ? std::optional{Bytes{*count << 20}} : std::nullopt;
}

Bytes share_of(Bytes capacity, double share) noexcept {
  return Bytes{static_cast<std::uint64_t>(static_cast<double>(capacity.count()) * share)};
}

// One number, or PyTorch's list `[256:1,512:2,>:4]`: key K (MiB, a power of two) sets slot log2 K, the first key all
// lower ones, `>` all from the last key's slot on.
bool read_divisions(std::string_view value, Policy& policy) noexcept {
  const auto is_division = [](std::optional<std::uint64_t> n) {
    return n && (*n == 0 || std::has_single_bit(*n)) && *n <= 1024;
  };
  if (const auto all = parse_count(value)) {
    if (!is_division(all)) {
      return false;
    }
    policy.roundup_power2_divisions.fill(static_cast<std::uint32_t>(*all));
    return true;
  }
  if (value.size() < 2 || value.front() != '[' || value.back() != ']') {
    return false;
  }
  auto divisions = policy.roundup_power2_divisions;
  std::string_view rest = value.substr(1, value.size() - 2);
  std::size_t last_slot = 0;
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const std::string_view item = take_item(rest);
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) {
      return false;
    }
    const std::string_view key = trim(item.substr(0, colon));
    const auto division = parse_count(trim(item.substr(colon + 1)));
    if (!is_division(division)) {
      return false;
    }
    const auto number = static_cast<std::uint32_t>(*division);
    if (key == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(last_slot), divisions.end(), number);
      continue;
    }
    const auto mib = parse_count(key);
    if (!mib || !std::has_single_bit(*mib)) {
      return false;
    }
    last_slot = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(*mib)), divisions.size() - 1);
    divisions[last_slot] = number;
    if (is_first) {
      std::fill(divisions.begin(), divisions.begin() + static_cast<std::ptrdiff_t>(last_slot), number);
    }
  }
  policy.roundup_power2_divisions = divisions;
  return true;
}

using Apply = bool (*)(std::string_view value, Policy& policy, Bytes capacity) noexcept;

struct Key {
  std::string_view name;
  Apply apply;  // null: a key of PyTorch's that means nothing here
  std::string_view allowed;
  std::string_view otherwise;  // the default
};

template <class Value, class Member>
bool store(const std::optional<Value>& value, Member& member) noexcept {
  if (value) {
    member = *value;
  }
  return value.has_value();
}

constexpr Key kKeys[] = {
    {"max_split_size_mb",
     [](std::string_view v, Policy& p, Bytes) noexcept { return store(parse_mib(v), p.max_split_size); },
     "a number of MiB above 20, with large:split", "unlimited"},
    {"max_non_split_rounding_mb",
     [](std::string_view v, Policy& p, Bytes) noexcept { return store(parse_mib(v), p.max_non_split_rounding); },
     "a number of MiB from 20 on", "20"},
    {"large_segment_size_mb",
     [](std::string_view v, Policy& p, Bytes) noexcept { return store(parse_mib(v), p.large_segment); },
     "a number of MiB from 10 on", "20"},
    {"roundup_power2_divisions", [](std::string_view v, Policy& p, Bytes) noexcept { return read_divisions(v, p); },
     "a power of two, or a list like [256:1,512:2,>:4]", "plain rounding"},
    {"garbage_collection_threshold",
     [](std::string_view v, Policy& p, Bytes) noexcept {
       return store(parse_share(v), p.garbage_collection_threshold);
     },
     "a number from 0 to below 1", "off"},
    {"per_process_memory_fraction",
     [](std::string_view v, Policy& p, Bytes capacity) noexcept {
       const auto share = parse_share(v);
       if (share && *share < 1 && capacity > Bytes{0}) {  // 1.0 means no limit
         p.limit = share_of(capacity, *share);
       }
       return share && *share > 0;
     },
     "a number above 0, up to 1", "no limit"},
    {"large",
     [](std::string_view v, Policy& p, Bytes) noexcept {
       p.large_requests = v == "split" ? alloc::LargeRequests::Split : alloc::LargeRequests::Whole;
       return v == "split" || v == "whole";
     },
     "whole or split", "whole, on MTIA split"},
    {"small_limit_kb",
     [](std::string_view v, Policy& p, Bytes) noexcept {
       const auto count = parse_count(v);
       if (count && *count <= 1024) {
         p.small_limit = Bytes{*count << 10};
       }
       return count && *count <= 1024;
     },
     "a number of KiB from 1 to 1024", "1024"},
    {"max_cached_mb", [](std::string_view v, Policy& p, Bytes) noexcept { return store(parse_mib(v), p.max_cached); },
     "a number of MiB", "unlimited"},
    {"max_idle_s",
     [](std::string_view v, Policy& p, Bytes) noexcept {
       const auto count = parse_count(v);
       if (count && *count < 1'000'000'000) {
         p.max_idle_ns = *count * 1'000'000'000;
       }
       return count && *count < 1'000'000'000;
     },
     "a number of seconds", "10"},
    {"backend", nullptr, {}, {}},
    {"expandable_segments", nullptr, {}, {}},
    {"expandable_segments_reserve", nullptr, {}, {}},
    {"expandable_segments_reserve_by_class", nullptr, {}, {}},
    {"release_lock_on_cudamalloc", nullptr, {}, {}},
    {"release_lock_on_hipmalloc", nullptr, {}, {}},
    {"throw_on_cudamalloc_oom", nullptr, {}, {}},
    {"graph_capture_record_stream_reuse", nullptr, {}, {}},
    {"pinned_use_cuda_host_register", nullptr, {}, {}},
    {"pinned_num_register_threads", nullptr, {}, {}},
    {"pinned_use_background_threads", nullptr, {}, {}},
    {"pinned_reserve_segment_size_mb", nullptr, {}, {}},
    {"pinned_free_catch_all", nullptr, {}, {}},
};

static_assert(std::size(kKeys) == kAllocConfKeys.size() + kAllocConfKeysWithoutEffect.size() &&
              std::all_of(std::begin(kKeys), std::end(kKeys),
                          [](const Key& key) { return is_alloc_conf_key(key.name); }));

void warn_of(std::string_view item, std::string_view what, OptionWarnings& warnings) noexcept {
  warnings.add("TIDEMARK_ALLOC_CONF: %.*s: %.*s", static_cast<int>(item.size()), item.data(),
               static_cast<int>(what.size()), what.data());
}

void apply_item(std::string_view item, Policy& policy, Bytes capacity, OptionWarnings& warnings) noexcept {
  const std::size_t colon = item.find(':');
  const std::string_view name = trim(item.substr(0, colon));
  const std::string_view value = colon == std::string_view::npos ? std::string_view{} : trim(item.substr(colon + 1));
  const auto* const key =
      std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) { return k.name == name; });
  if (key == std::end(kKeys)) {
    constexpr int kMostShown = 40;  // so that the list, which is worth more, fits the line
    warnings.add("TIDEMARK_ALLOC_CONF: %.*s: no such key, ignored; there are %s",
                 std::min(static_cast<int>(item.size()), kMostShown), item.data(), kAllocConfKeyText.data());
  } else if (key->apply == nullptr) {
    warn_of(name, "no effect", warnings);
  } else {
    Policy changed = policy;
    if (key->apply(value, changed, capacity) && changed.contradiction() == nullptr) {
      policy = changed;
      return;
    }
    warnings.add("TIDEMARK_ALLOC_CONF: %.*s: allowed is %.*s; the default is used: %.*s", static_cast<int>(item.size()),
                 item.data(), static_cast<int>(key->allowed.size()), key->allowed.data(),
                 static_cast<int>(key->otherwise.size()), key->otherwise.data());
  }
}

bool is_for(std::string_view target, DeviceName device) noexcept {
  const std::size_t colon = target.find(':');
  if (target.substr(0, colon) != device.backend) {
    return false;
  }
  return colon == std::string_view::npos ||
         parse_count(target.substr(colon + 1)) ==
             std::optional<std::uint64_t>{static_cast<std::uint64_t>(device.ordinal)};
}

std::optional<Bytes> parse_limit(std::string_view text, Bytes capacity) noexcept {
  if (!text.empty() && text.back() == '%') {
    const auto percent = parse_count(text.substr(0, text.size() - 1));
    return percent && *percent > 0 && *percent <= 100
               ? std::optional{share_of(capacity, static_cast<double>(*percent) / 100)}
               : std::nullopt;
  }
  const auto size = parse_size(text);
  return size && *size > Bytes{0} ? size : std::nullopt;
}

}  // namespace

// `large` first, wherever it stands: what the other keys may say depends on it.
void apply_alloc_conf(std::string_view conf, Policy& policy, Bytes capacity, OptionWarnings& warnings) noexcept {
  for (const bool takes_large : {true, false}) {
    for (std::string_view rest = conf; !rest.empty();) {
      const std::string_view item = trim(take_item(rest));
      if (!item.empty() && (trim(item.substr(0, item.find(':'))) == "large") == takes_large) {
        apply_item(item, policy, capacity, warnings);
      }
    }
  }
}

std::optional<Bytes> limit_for(std::string_view limits, DeviceName device, Bytes capacity,
                               OptionWarnings& warnings) noexcept {
  std::optional<Bytes> limit;
  while (!limits.empty()) {
    const std::string_view item = trim(take_item(limits));
    const std::size_t equals = item.find('=');
    const bool is_general = equals == std::string_view::npos;
    const auto value = parse_limit(is_general ? item : trim(item.substr(equals + 1)), capacity);
    if (!value) {
      warnings.add("TIDEMARK_LIMIT: %.*s is not %s, or a percentage, alone or after cuda:0= or mtia=; it is ignored",
                   static_cast<int>(item.size()), item.data(), kSizeForms.data());
    } else if (is_general || is_for(trim(item.substr(0, equals)), device)) {
      limit = value;
    }
  }
  return limit;
}

}  // namespace tidemark::runtime
