#include "shared/ranges/table_writer.hpp"

#include <new>
#include <utility>

#include "shared/ranges/layout.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/sequence.hpp"
#include "shared/segment/stores.hpp"
#include "shared/segment/text.hpp"

namespace tidemark::ranges {
namespace {

using segment::FileHandle;
using segment::Mapping;
using segment::store_word;

}  // namespace

Status TableWriter::create(const char* segment_path, std::uint64_t nonce) noexcept {
  if (const Status placed = file_.place(segment_path, segment::kRangesSuffix); !placed) {
    return placed;
  }
  if (const Status room = segment::check_space(file_.directory(), kTableBytes, segment::kShareOfFreeSpace); !room) {
    return room;
  }
  const Result<FileHandle> file = file_.create(nonce);
  return file ? file_.finish(file.value().get(), fill(file.value().get(), nonce)) : Status{file.error()};
}

Status TableWriter::fill(int fd, std::uint64_t nonce) noexcept {
  Result<Mapping> mapped = file_.map(fd, kTableBytes);
  if (!mapped) {
    return mapped.error();
  }
  mapping_ = std::move(mapped).value();
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
  return {};
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

}  // namespace tidemark::ranges
