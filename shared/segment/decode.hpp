// From copies of records to what a viewer works with. Any bytes at all give a harmless result.
#pragma once

#include "shared/segment/layout.hpp"
#include "shared/segment/process_words.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::segment {

// Leaves alone what the record doesn't hold (nonce, id, file_uid, has_control).
void decode_identity(ProcessIdentity& identity, const RecordImage<IdentityRecord>& image);
[[nodiscard]] ProcessGlobals decode_globals(const RecordImage<GlobalRecord>& image);
[[nodiscard]] DeviceInfo decode_device_info(const RecordImage<DeviceInfoRecord>& image);
[[nodiscard]] Acknowledgement decode_acknowledgement(const RecordImage<AckRecord>& image);

}  // namespace tidemark::segment
