// The address that --listen names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::viewer {

struct ListenAddress {
  std::string host = "127.0.0.1";  // of IPv4 or IPv6
  std::uint16_t port = 9435;

  bool operator==(const ListenAddress&) const = default;
};

inline constexpr std::string_view kEveryAddress = "::";  // takes IPv4 as well

inline constexpr std::string_view kListenForms =
    "127.0.0.1:9435, [::1]:9435, localhost:9435, or :9435 for every address";

// nullopt: none of these forms.
[[nodiscard]] std::optional<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace tidemark::viewer
