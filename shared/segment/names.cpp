#include "shared/segment/names.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

namespace tidemark::segment {
namespace {

constexpr std::string_view kPrefix = "tidemark.";
constexpr std::string_view kTemporaryPrefix = ".tidemark-init.";
constexpr std::size_t kNonceDigits = 16;

// Builds a name without snprintf, which would bring locales along.
class NameBuilder {
 public:
  NameBuilder& add(std::string_view text) {
    for (const char c : text) {
      bytes_[length_++] = c;
    }
    return *this;
  }
  NameBuilder& add_decimal(std::uint32_t number) {
    const auto end = std::to_chars(bytes_.data() + length_, bytes_.data() + bytes_.size(), number).ptr;
    length_ = static_cast<std::size_t>(end - bytes_.data());
    return *this;
  }
  NameBuilder& add_nonce(std::uint64_t nonce) {
    for (std::size_t i = 0; i < kNonceDigits; ++i) {
      bytes_[length_++] = "0123456789abcdef"[(nonce >> (4 * (kNonceDigits - 1 - i))) & 0xF];
    }
    return *this;
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), length_}; }

 private:
  std::array<char, 96> bytes_{};
  std::size_t length_ = 0;
};

NameText name_with(const SegmentName& name, std::string_view suffix) {
  NameBuilder builder;
  builder.add(kPrefix).add_decimal(name.uid).add(".").add_decimal(name.pid).add(".").add_nonce(name.nonce).add(suffix);
  return builder.view();
}

// The number at the start of `text`, which is then the rest.
std::optional<std::uint32_t> take_decimal(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) {
    return false;
  }
  text.remove_prefix(expected.size());
  return true;
}

}  // namespace

NameText stats_name(const SegmentName& name) noexcept { return name_with(name, ""); }
NameText control_name(const SegmentName& name) noexcept { return name_with(name, kControlSuffix); }
NameText history_name(const SegmentName& name) noexcept { return name_with(name, kHistorySuffix); }
NameText ranges_name(const SegmentName& name) noexcept { return name_with(name, kRangesSuffix); }

NameText temporary_name(std::uint64_t nonce, bool control) noexcept {
  NameBuilder builder;
  builder.add(kTemporaryPrefix).add_nonce(nonce).add(control ? kControlSuffix : std::string_view{});
  return builder.view();
}

std::optional<SegmentName> parse_stats_name(std::string_view file_name) noexcept {
  std::string_view rest = file_name;
  if (!take(rest, kPrefix)) {
    return std::nullopt;
  }
  const auto uid = take_decimal(rest);
  if (!uid || !take(rest, ".")) {
    return std::nullopt;
  }
  const auto pid = take_decimal(rest);
  if (!pid || !take(rest, ".") || rest.size() != kNonceDigits) {
    return std::nullopt;
  }
  SegmentName name{.uid = *uid, .pid = *pid, .nonce = 0};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), name.nonce, 16);
  // Writing it again is the simplest proof that nothing was read generously (leading zeros, capitals).
  if (error != std::errc{} || end != rest.data() + rest.size() || stats_name(name).view() != file_name) {
    return std::nullopt;
  }
  return name;
}

bool is_temporary_name(std::string_view file_name) noexcept { return file_name.starts_with(kTemporaryPrefix); }

std::string id_of(std::uint64_t nonce) {
  NameBuilder builder;
  return std::string{builder.add_nonce(nonce).view().substr(0, 8)};
}

const char* configured_directory() noexcept {
  const char* configured = ::secure_getenv("TIDEMARK_DIR");
  return configured != nullptr && *configured != '\0' ? configured : kDefaultDirectory;
}

}  // namespace tidemark::segment
