#include "shim/publish/range_board.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "shared/segment/text.hpp"

namespace tidemark::publish {
namespace {

// Never 0. An odd multiplier spreads the few numbers of devices over all bits.
std::uint64_t key_of(const RangeName& name, std::uint32_t device) noexcept {
  const std::uint64_t key = name.hash ^ (std::uint64_t{device} + 1) * 0x9e3779b97f4a7c15;
  return key == 0 ? 1 : key;
}

void add(ranges::RowValues& sum, const ranges::RowValues& one) noexcept {
  sum.times += one.times;
  sum.unmeasured += one.unmeasured;
  sum.allocated_bytes = std::max(sum.allocated_bytes, one.allocated_bytes);
  sum.reserved_bytes = std::max(sum.reserved_bytes, one.reserved_bytes);
  sum.added_bytes = std::max(sum.added_bytes, one.added_bytes);
}

segment::Text<ranges::kNameBytes> full_name(const RangeName& name) noexcept {
  segment::Text<ranges::kNameBytes> text{name.domain};
  if (!name.domain.empty()) {
    text.append(":");
  }
  text.append(name.message);
  return text;
}

}  // namespace

Status RangeBoard::count(const RangeName& name, std::uint32_t device, const ranges::RowValues& one) noexcept {
  if (state_.load(std::memory_order_acquire) != State::Open) {
    return {};
  }
  const std::lock_guard lock{mutex_};
  if (!pages_) {
    if (const Status made = make_table(); !made) {
      const bool is_first = state_.exchange(State::Closed, std::memory_order_acq_rel) == State::Open;
      return is_first ? made : Status{};
    }
  }
  const RangeName* wanted = &name;
  std::uint64_t key = key_of(name, device);
  std::uint16_t* place = &place_for(key);
  const bool is_full = (*pages_)->table.count() >= ranges::kRows - ranges::kRowsForOthers;
  if (*place == 0 && is_full) {
    wanted = &kOtherRanges;
    key = key_of(kOtherRanges, device);
    place = &place_for(key);
  }
  Pages& pages = **pages_;
  if (*place != 0) {
    Row& row = pages.rows[*place - 1U];
    add(row.values, one);
    pages.table.set(*place - 1U, row.values);
  } else if (const std::size_t next = pages.table.count(); next < ranges::kRows) {
    pages.rows[next] = {.key = key, .values = one};
    pages.table.add(full_name(*wanted).view(), device, one);
    *place = static_cast<std::uint16_t>(next + 1);
  }
  return {};
}

// Requires: mutex_.
Status RangeBoard::make_table() noexcept {
  pages_.emplace();
  if (!*pages_) {
    pages_.reset();
    return Error{ErrorCode::System, ENOMEM};
  }
  const Status made = (*pages_)->table.create(segment_->path(), segment_->nonce());
  if (!made) {
    pages_.reset();
    return made;
  }
  // Either this sees that remove_file() was here, or that sees the table.
  table_.store(&(*pages_)->table, std::memory_order_seq_cst);
  if (state_.load(std::memory_order_seq_cst) == State::Closed) {
    (*pages_)->table.remove_file();
  }
  return {};
}

// Where the key's row is said, or would be. Requires: mutex_, pages_.
std::uint16_t& RangeBoard::place_for(std::uint64_t key) noexcept {
  Pages& pages = **pages_;
  std::size_t i = key & (kPlaces - 1);
  while (pages.places[i] != 0 && pages.rows[pages.places[i] - 1U].key != key) {
    i = (i + 1) & (kPlaces - 1);
  }
  return pages.places[i];
}

void RangeBoard::remove_file() noexcept {
  state_.store(State::Closed, std::memory_order_seq_cst);
  if (ranges::TableWriter* const table = table_.load(std::memory_order_seq_cst); table != nullptr) {
    table->remove_file();
  }
}

}  // namespace tidemark::publish
