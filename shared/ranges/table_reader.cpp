#include "shared/ranges/table_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "shared/ranges/layout.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::ranges {
namespace {

using HeadImage = segment::RecordImage<Head>;
using RowImage = segment::RecordImage<RowRecord>;

bool read_head(int fd, HeadImage& head) noexcept {
  return segment::read_exactly(fd, std::as_writable_bytes(head.words_up_to(sizeof(Head))), 0);
}

Status check_head(const HeadImage& head, std::uint64_t nonce) noexcept {
  if (head.word(offsetof(Head, magic)) != kMagic) {
    return Error{ErrorCode::BadFormat};
  }
  const Status version = kVersion.check(head.word(offsetof(Head, version)), head.word(offsetof(Head, layout_hash)));
  if (!version) {
    return version;
  }
  const bool is_complete = head.word(offsetof(Head, state)) == 1;
  return is_complete && head.word(offsetof(Head, nonce)) == nonce ? Status{} : Status{Error{ErrorCode::BadFormat}};
}

Row row_of(const RowImage& image, bool is_consistent) {
  return {.name = image.text(offsetof(RowRecord, name), kNameBytes / sizeof(std::uint64_t)),
          .device =
              static_cast<std::uint32_t>(std::min<std::uint64_t>(image.word(offsetof(RowRecord, device)), UINT32_MAX)),
          .values = {.times = image.word(offsetof(RowRecord, times)),
                     .unmeasured = image.word(offsetof(RowRecord, unmeasured)),
                     .allocated_bytes = image.word(offsetof(RowRecord, allocated)),
                     .reserved_bytes = image.word(offsetof(RowRecord, reserved)),
                     .added_bytes = image.word(offsetof(RowRecord, added))},
          .approximate = !is_consistent};
}

}  // namespace

Result<TableReader> TableReader::beside(const segment::SegmentReader& segment) {
  const std::string path = segment.path() + std::string{segment::kRangesSuffix};
  segment::FileHandle file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW)};
  if (!file) {
    return errno == ELOOP || errno == ENXIO ? Error{ErrorCode::BadFormat, errno} : segment::system_error(errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return segment::system_error(errno);
  }
  // In a directory that everybody may write, the name alone could be anybody's.
  HeadImage head;
  if (!S_ISREG(info.st_mode) || info.st_uid != segment.identity().file_uid || !read_head(file.get(), head)) {
    return Error{ErrorCode::BadFormat};
  }
  if (const Status sound = check_head(head, segment.identity().nonce); !sound) {
    return sound.error();
  }
  TableReader reader;
  reader.file_ = std::move(file);
  return reader;
}

std::vector<Row> TableReader::rows(const segment::ReadBudget& budget) const {
  std::vector<Row> rows;
  HeadImage head;
  if (!read_head(file_.get(), head)) {
    return rows;
  }
  const std::uint64_t count = std::min<std::uint64_t>(head.word(offsetof(Head, count)), kRows);
  // One row at a time changes: patience with a second one that stands still would be for a file that nobody writes.
  segment::ReadBudget left = budget;
  for (std::uint64_t i = 0; i < count; ++i) {
    RowImage image;
    const segment::CopyOutcome outcome =
        image.copy(file_.get(), kRowsOffset + i * sizeof(RowRecord), sizeof(RowRecord), left);
    if (outcome == segment::CopyOutcome::Failed) {
      break;
    }
    if (outcome == segment::CopyOutcome::Approximate) {
      left = {.still_ns = 1, .busy_ns = 1};
    }
    rows.push_back(row_of(image, outcome == segment::CopyOutcome::Consistent));
  }
  return rows;
}

}  // namespace tidemark::ranges
