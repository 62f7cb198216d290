// What a new segment holds before anybody sees it: who the process is, its settings, and where everything lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/segment/writer.hpp"

namespace tidemark::segment {

// Requires: `memory` is zeroed and has kSegmentBytes.
void fill_segment(std::span<std::byte> memory, std::uint64_t nonce, const WriterOptions& options) noexcept;

}  // namespace tidemark::segment
