// From copies of records to what a viewer works with. Any bytes at all give a harmless result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/kind_counts.hpp"
#include "shared/segment/coverage.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/process_words.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::segment {

// Leaves alone what the record doesn't hold (nonce, id, file_uid, has_control).
void decode_identity(ProcessIdentity& identity, const RecordImage<IdentityRecord>& image);
[[nodiscard]] ProcessGlobals decode_globals(const RecordImage<GlobalRecord>& image);
[[nodiscard]] DeviceInfo decode_device_info(const RecordImage<DeviceInfoRecord>& image);
// Requires: kKindWords words a kind.
template <std::size_t Kinds>
[[nodiscard]] KindCounts<Kinds> decode_kinds(std::span<const std::uint64_t> words) {
  KindCounts<Kinds> counts;
  for (KindCount& kind : counts.kinds) {
    kind = {.current_bytes = words[0], .peak_bytes = words[1], .current_count = words[2], .total_count = words[3]};
    words = words.subspan(kKindWords);
  }
  return counts;
}
[[nodiscard]] CoverageList decode_coverage(const RecordImage<CoverageRecord>& image);
[[nodiscard]] std::vector<Setting> decode_settings(const RecordImage<SettingsRecord>& image);
[[nodiscard]] Acknowledgement decode_acknowledgement(const RecordImage<AckRecord>& image);

}  // namespace tidemark::segment
