#include "shared/ranges/table_writer.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "shared/ranges/layout.hpp"
#include "shared/segment/file_steps.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/sequence.hpp"
#include "shared/segment/stores.hpp"
#include "shared/segment/text.hpp"

namespace tidemark::ranges {
namespace {

using segment::FileHandle;
using segment::FileIdentity;
using segment::Mapping;
using segment::store_word;
using segment::system_error;

// As a segment: others need the space more.
constexpr std::uint64_t kShareOfFreeSpace = 16;

Status check_room(const char* segment_path) noexcept {
  struct statvfs space {};
  if (::statvfs(segment_path, &space) != 0) {
    return system_error(errno);
  }
  const std::uint64_t left = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  const bool has_limit = space.f_blocks != 0;  // a tmpfs without one says 0 blocks in all
  return has_limit && kTableBytes > left / kShareOfFreeSpace ? Status{system_error(ENOSPC)} : Status{};
}

}  // namespace

Status TableWriter::create(const char* segment_path, std::uint64_t nonce) noexcept {
  const std::string_view segment{segment_path};
  struct stat info {};
  if (segment.find('/') == std::string_view::npos || ::stat(segment_path, &info) != 0) {
    return segment.empty() ? Error{ErrorCode::Unsupported, 0} : system_error(errno);
  }
  mode_ = info.st_mode & 0777;
  path_.assign(segment);
  path_.append(segment::kRangesSuffix);
  if (const Status room = check_room(segment_path); !room) {
    return room;
  }
  temporary_.assign(segment.substr(0, segment.rfind('/')));  // the directory, so far
  segment::NameText name = segment::temporary_name(nonce, false);
  name.append(segment::kRangesSuffix);
  Result<FileHandle> file = segment::create_file(temporary_.c_str(), name.c_str());
  if (!file) {
    return file.error();
  }
  temporary_.append("/");
  temporary_.append(name.view());
  Status made = fill(file.value().get(), nonce);
  if (made) {
    made = segment::rename_to(temporary_.c_str(), path_.c_str());
  }
  if (!made) {
    ::unlink(temporary_.c_str());
  }
  return made;
}

Status TableWriter::fill(int fd, std::uint64_t nonce) noexcept {
  if (const Status allocated = segment::allocate(fd, kTableBytes); !allocated) {
    return allocated;
  }
  Result<Mapping> mapped = Mapping::of(fd, segment::MapMode::ReadWrite, kTableBytes);
  const Result<FileIdentity> made = segment::identity_of(fd);
  if (!mapped || !made) {
    return mapped ? made.error() : mapped.error();
  }
  mapping_ = std::move(mapped).value();
  identity_ = made.value();
  if (const Status locked = segment::lock(fd); !locked) {
    return locked;
  }
  head_ = new (mapping_.address()) Head{};
  for (std::size_t i = 0; i < kRows; ++i) {
    new (mapping_.address() + kRowsOffset + i * sizeof(RowRecord)) RowRecord{};
  }
  store_word(head_->magic, kMagic);
  store_word(head_->version, kVersionWord);
  store_word(head_->total_bytes, kTableBytes);
  store_word(head_->nonce, nonce);
  store_word(head_->layout_hash, kLayoutHash);
  store_word(head_->state, 1);
  return ::fchmod(fd, mode_) == 0 ? Status{} : Status{system_error(errno)};
}

RowRecord& TableWriter::row(std::size_t number) const noexcept {
  return *std::launder(reinterpret_cast<RowRecord*>(mapping_.address() + kRowsOffset + number * sizeof(RowRecord)));
}

void TableWriter::store(RowRecord& record, const RowValues& values) noexcept {
  store_word(record.times, values.times);
  store_word(record.unmeasured, values.unmeasured);
  store_word(record.allocated, values.allocated_bytes);
  store_word(record.reserved, values.reserved_bytes);
  store_word(record.added, values.added_bytes);
}

void TableWriter::add(std::string_view name, std::uint32_t device, const RowValues& values) noexcept {
  RowRecord& record = row(count_);
  segment::store_text(record.name, segment::Text<kNameBytes>{name});
  store_word(record.device, device);
  store(record, values);
  ++count_;
  head_->count.store(count_, std::memory_order_release);
}

void TableWriter::set(std::size_t number, const RowValues& values) noexcept {
  RowRecord& record = row(number);
  const segment::WriteSection section{record.sequence, sequences_[number]};
  store(record, values);
}

void TableWriter::remove_file() noexcept {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) == 0 &&
      FileIdentity{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)} == identity_) {
    ::unlink(path_.c_str());
  }
}

}  // namespace tidemark::ranges
