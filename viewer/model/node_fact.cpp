#include "viewer/model/node_fact.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tidemark::viewer {

std::optional<UuidBytes> parse_uuid(std::string_view text) {
  const std::size_t word = text.find('-');
  if (word == std::string_view::npos) {
    return std::nullopt;
  }
  std::string digits{text.substr(word + 1)};
  std::erase(digits, '-');
  UuidBytes bytes{};
  if (digits.size() != 2 * bytes.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const first = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(first, first + 2, bytes[i], 16);
    if (error != std::errc{} || end != first + 2) {
      return std::nullopt;
    }
  }
  return bytes;
}

std::string plain_bus_id(std::string_view text) {
  constexpr std::size_t kDomainDigits = 4;
  const std::size_t domain = text.find(':');
  if (domain != std::string_view::npos && domain > kDomainDigits) {
    const std::size_t more = domain - kDomainDigits;
    const bool is_padding = text.substr(0, more).find_first_not_of('0') == std::string_view::npos;
    text.remove_prefix(is_padding ? more : 0);
  }
  std::string plain{text};
  std::transform(plain.begin(), plain.end(), plain.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return plain;
}

}  // namespace tidemark::viewer
