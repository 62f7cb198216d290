// The settings in effect, as viewers show them.
#pragma once

#include <array>
#include <string_view>

#include "shim/runtime/options.hpp"

namespace tidemark::runtime {

using SettingsText = std::array<char, 3072>;

// name, NUL, value, NUL, ... ("free", "strict"), each as its variable would say it; an empty value: not set. What
// doesn't fit is left out.
[[nodiscard]] std::string_view list_settings(const Options& options, SettingsText& text) noexcept;

}  // namespace tidemark::runtime
