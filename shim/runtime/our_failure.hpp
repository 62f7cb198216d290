// Did we fail, or the driver?
#pragma once

#include "shared/base/result.hpp"

namespace tidemark::runtime {

// True for what has nothing to do with the device (no host memory for our books, a context being destroyed): the
// program gets what it would have got without us.
[[nodiscard]] constexpr bool is_ours_to_hide(const Error& error) noexcept {
  return error.code == ErrorCode::NotOurs || error.code == ErrorCode::NoSpace || error.code == ErrorCode::System ||
         error.code == ErrorCode::Unsupported;
}

}  // namespace tidemark::runtime
