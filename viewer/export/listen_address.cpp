#include "viewer/export/listen_address.hpp"

#include "viewer/number_text.hpp"

#include <arpa/inet.h>

#include <array>

namespace tidemark::viewer {
namespace {

bool is_address(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(family, text.c_str(), bytes.data()) == 1;
}

}  // namespace

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto port = parse_count(text.substr(colon + 1));
  if (!port || *port > UINT16_MAX) {
    return std::nullopt;
  }
  std::string host{text.substr(0, colon)};
  if (host.empty()) {
    host = kEveryAddress;
  } else if (host == "localhost") {
    host = "127.0.0.1";
  } else if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_address(AF_INET6, host)) {
      return std::nullopt;
    }
  } else if (!is_address(AF_INET, host)) {
    return std::nullopt;
  }
  return ListenAddress{.host = host, .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace tidemark::viewer
