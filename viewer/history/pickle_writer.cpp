#include "viewer/history/pickle_writer.hpp"

#include <bit>
#include <limits>

#include "viewer/clean_text.hpp"
#include "viewer/history/pickle_opcodes.hpp"

namespace tidemark::viewer {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;

}  // namespace

PickleWriter::PickleWriter(ByteSink& bytes) : bytes_(bytes) {
  byte(pickle::kProto);
  byte(2);
}

void PickleWriter::finish() {
  byte(pickle::kStop);
  bytes_.write(buffer_);
  buffer_.clear();
}

void PickleWriter::byte(unsigned char value) {
  buffer_ += static_cast<char>(value);
  if (buffer_.size() >= kBuffer) {
    bytes_.write(buffer_);
    buffer_.clear();
  }
}

void PickleWriter::little_endian(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    byte(static_cast<unsigned char>(value >> (8 * i)));
  }
}

// A dict's group begins before its key, a list's before its value.
void PickleWriter::begin_value() {
  if (!open_.empty() && !open_.back().is_dict && open_.back().in_group == 0) {
    byte(pickle::kMark);
  }
}

void PickleWriter::end_value() {
  if (!open_.empty() && ++open_.back().in_group == kGroup) {
    close_group(open_.back());
  }
}

void PickleWriter::close_group(Open& open) {
  if (open.in_group > 0) {
    byte(open.is_dict ? pickle::kSetItems : pickle::kAppends);
    open.in_group = 0;
  }
}

void PickleWriter::begin_dict() {
  begin_value();
  byte(pickle::kEmptyDict);
  open_.push_back({.is_dict = true});
}

void PickleWriter::begin_list() {
  begin_value();
  byte(pickle::kEmptyList);
  open_.push_back({.is_dict = false});
}

void PickleWriter::end_container() {
  close_group(open_.back());
  open_.pop_back();
  end_value();
}

void PickleWriter::end_dict() { end_container(); }
void PickleWriter::end_list() { end_container(); }

void PickleWriter::key(std::string_view name) {
  if (open_.back().in_group == 0) {
    byte(pickle::kMark);
  }
  put_text(name);
}

void PickleWriter::text(std::string_view value) {
  begin_value();
  put_text(value);
  end_value();
}

void PickleWriter::integer(std::uint64_t value) {
  begin_value();
  put_integer(value);
  end_value();
}

void PickleWriter::real(double value) {
  begin_value();
  byte(pickle::kBinFloat);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) {
    byte(static_cast<unsigned char>(bits >> shift));
  }
  end_value();
}

void PickleWriter::boolean(bool value) {
  begin_value();
  byte(value ? pickle::kNewTrue : pickle::kNewFalse);
  end_value();
}

void PickleWriter::null() {
  begin_value();
  byte(pickle::kNone);
  end_value();
}

void PickleWriter::pair(std::uint64_t first, std::uint64_t second) {
  begin_value();
  put_integer(first);
  put_integer(second);
  byte(pickle::kTuple2);
  end_value();
}

bool PickleWriter::begin_shared(std::uint64_t id) {
  const auto known = shared_.find(id);
  if (known == shared_.end()) {
    return true;
  }
  begin_value();
  put_reference(known->second);
  end_value();
  return false;
}

// The value is still on the unpickler's stack: a group takes its values when it ends. Where the value was the last of a
// group it no longer is, and is written once more where it occurs next.
void PickleWriter::end_shared(std::uint64_t id) {
  const bool is_on_top = open_.empty() || open_.back().in_group > 0;
  if (is_on_top) {
    shared_[id] = memos_;
    put_memo(memos_++);
  }
}

void PickleWriter::put_integer(std::uint64_t value) {
  constexpr std::uint64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();
  if (value <= 0xFF) {
    byte(pickle::kBinInt1);
    byte(static_cast<unsigned char>(value));
  } else if (value <= 0xFFFF) {
    byte(pickle::kBinInt2);
    little_endian(value, 2);
  } else if (value <= kMostInt32) {
    byte(pickle::kBinInt);
    little_endian(value, 4);
  } else {
    byte(pickle::kLong1);
    byte(8);
    little_endian(value, 8);
  }
}

void PickleWriter::put_text(std::string_view value) {
  const auto [known, is_new] = texts_.try_emplace(std::string{value}, memos_);
  if (!is_new) {
    put_reference(known->second);
    return;
  }
  const std::string sound = encode_utf8(decode_utf8(value));  // anything else is an error to Python
  byte(pickle::kBinUnicode);
  little_endian(sound.size(), 4);
  for (const char c : sound) {
    byte(static_cast<unsigned char>(c));
  }
  put_memo(memos_++);
}

void PickleWriter::put_memo(std::uint32_t index) {
  byte(index <= 0xFF ? pickle::kBinPut : pickle::kLongBinPut);
  little_endian(index, index <= 0xFF ? 1 : 4);
}

void PickleWriter::put_reference(std::uint32_t index) {
  byte(index <= 0xFF ? pickle::kBinGet : pickle::kLongBinGet);
  little_endian(index, index <= 0xFF ? 1 : 4);
}

}  // namespace tidemark::viewer
