#include "shim/stacks/call_frame_program.hpp"

#include <array>
#include <cstddef>
#include <limits>

#include "shim/stacks/call_frame_expression.hpp"

namespace tidemark::stacks {
namespace {

// DWARF 5, 7.24, and GNU's additions. Those with an operand in their lower six bits come first.
enum Instruction : std::uint8_t {
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xC0,
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0A,
  kRestoreState = 0x0B,
  kDefCfa = 0x0C,
  kDefCfaRegister = 0x0D,
  kDefCfaOffset = 0x0E,
  kDefCfaExpression = 0x0F,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefCfaSigned = 0x12,
  kDefCfaOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kGnuArgumentsSize = 0x2E,
  kGnuNegativeOffset = 0x2F,
};

enum class Rule : std::uint8_t { Same, Undefined, InMemory, NotUnderstood };

// Where the caller's value of a register is.
struct Saved {
  Rule rule = Rule::Same;
  Place place{};
};

struct Registers {
  std::uint64_t cfa_register = kStackPointerNumber;
  bool cfa_by_expression = false;
  bool cfa_understood = true;
  Place cfa{};
  Saved fp{};
  Saved return_address{};
};

class Interpreter {
 public:
  Interpreter(const CallFrameEntry& entry, std::uintptr_t address) noexcept
      : entry_(entry), address_(address), location_(entry.begin) {}

  [[nodiscard]] bool run() noexcept {
    if (!run(entry_.start)) {
      return false;
    }
    start_ = now_;
    return run(entry_.program);
  }

  [[nodiscard]] const Registers& result() const { return now_; }

 private:
  [[nodiscard]] bool run(ByteCursor cursor) noexcept {
    while (!cursor.at_end() && location_ <= address_) {
      const auto instruction = cursor.read<std::uint8_t>();
      const std::uint64_t low = instruction & 0x3FU;
      switch (instruction & 0xC0U) {
        case kAdvance:
          advance(low);
          break;
        case kOffset:
          save(low, scaled(cursor.read_uleb()));
          break;
        case kRestore:
          restore(low);
          break;
        default:
          if (!do_extended(instruction, cursor)) {
            return false;
          }
      }
      if (location_ > address_) {
        return !cursor.failed();  // the rest is about what comes later
      }
    }
    return !cursor.failed();
  }

  [[nodiscard]] bool do_extended(std::uint8_t instruction, ByteCursor& cursor) noexcept {
    switch (instruction) {
      case kNop:
        return true;
      case kAdvance1:
        advance(cursor.read<std::uint8_t>());
        return true;
      case kAdvance2:
        advance(cursor.read<std::uint16_t>());
        return true;
      case kAdvance4:
        advance(cursor.read<std::uint32_t>());
        return true;
      case kRememberState:
        if (depth_ == remembered_.size()) {
          return false;
        }
        remembered_[depth_++] = now_;
        return true;
      case kRestoreState:
        if (depth_ == 0) {
          return false;
        }
        now_ = remembered_[--depth_];
        return true;
      case kGnuArgumentsSize:
        cursor.read_uleb();
        return true;
      case kDefCfa:
      case kDefCfaSigned:
      case kDefCfaRegister:
      case kDefCfaOffset:
      case kDefCfaOffsetSigned:
      case kDefCfaExpression:
        return define_cfa(instruction, cursor);
      default:
        return define_register(instruction, cursor);
    }
  }

  [[nodiscard]] bool define_cfa(std::uint8_t instruction, ByteCursor& cursor) noexcept {
    if (instruction == kDefCfaExpression) {
      now_.cfa_by_expression = true;
      now_.cfa_understood = evaluate(block(cursor), address_, false, now_.cfa);
      return true;
    }
    if (instruction == kDefCfa || instruction == kDefCfaSigned) {
      now_.cfa_by_expression = false;
      now_.cfa = {};
      set_cfa_register(cursor.read_uleb());
      now_.cfa.offset =
          instruction == kDefCfa ? static_cast<std::int64_t>(cursor.read_uleb()) : scaled(cursor.read_sleb());
      return true;
    }
    if (now_.cfa_by_expression) {
      return false;  // the others change a register and an offset that aren't there
    }
    switch (instruction) {
      case kDefCfaRegister:
        set_cfa_register(cursor.read_uleb());
        break;
      case kDefCfaOffset:
        now_.cfa.offset = static_cast<std::int64_t>(cursor.read_uleb());
        break;
      default:
        now_.cfa.offset = scaled(cursor.read_sleb());
        break;
    }
    return true;
  }

  [[nodiscard]] bool define_register(std::uint8_t instruction, ByteCursor& cursor) noexcept {
    if (instruction < kOffsetExtended || (instruction > kValueExpression && instruction != kGnuNegativeOffset)) {
      return false;
    }
    const std::uint64_t number = cursor.read_uleb();
    switch (instruction) {
      case kOffsetExtended:
        save(number, scaled(cursor.read_uleb()));
        break;
      case kOffsetExtendedSigned:
        save(number, scaled(cursor.read_sleb()));
        break;
      case kGnuNegativeOffset:
        save(number, -scaled(cursor.read_uleb()));
        break;
      case kRestoreExtended:
        restore(number);
        break;
      case kUndefined:
        set(number, {.rule = Rule::Undefined, .place = {}});
        break;
      case kSameValue:
        set(number, {.rule = Rule::Same, .place = {}});
        break;
      case kExpression: {
        Saved saved{.rule = Rule::InMemory, .place = {}};
        if (!evaluate(block(cursor), address_, true, saved.place) || saved.place.indirect) {
          saved.rule = Rule::NotUnderstood;
        }
        set(number, saved);
        break;
      }
      case kValueExpression:
        (void)block(cursor);
        set(number, {.rule = Rule::NotUnderstood, .place = {}});
        break;
      case kRegister:
      case kValueOffset:
      case kValueOffsetSigned:
        cursor.read_uleb();
        set(number, {.rule = Rule::NotUnderstood, .place = {}});
        break;
      default:
        return false;
    }
    return true;
  }

  static ByteCursor block(ByteCursor& cursor) noexcept {
    const std::uint64_t bytes = cursor.read_uleb();
    const std::uintptr_t begin = cursor.at();
    cursor.skip(bytes);
    return {begin, cursor.at()};
  }

  void advance(std::uint64_t units) noexcept { location_ += units * entry_.code_unit; }

  template <class Number>
  [[nodiscard]] std::int64_t scaled(Number units) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(units) * static_cast<std::uint64_t>(entry_.data_unit));
  }

  Saved* saved_of(Registers& registers, std::uint64_t number) noexcept {
    return number == kFramePointerNumber      ? &registers.fp
           : number == entry_.return_register ? &registers.return_address
                                              : nullptr;
  }

  void set(std::uint64_t number, const Saved& saved) noexcept {
    if (Saved* const place = saved_of(now_, number); place != nullptr) {
      *place = saved;
    }
  }
  void save(std::uint64_t number, std::int64_t offset) noexcept {
    set(number,
        {.rule = Rule::InMemory, .place = {.base = Base::Cfa, .offset = offset, .indirect = false, .added = 0}});
  }
  void restore(std::uint64_t number) noexcept {
    if (const Saved* const saved = saved_of(start_, number); saved != nullptr) {
      set(number, *saved);
    }
  }

  void set_cfa_register(std::uint64_t number) noexcept {
    now_.cfa_understood = number == kStackPointerNumber || number == kFramePointerNumber;
    now_.cfa.base = number == kStackPointerNumber ? Base::StackPointer : Base::FramePointer;
  }

  const CallFrameEntry& entry_;
  std::uintptr_t address_;
  std::uintptr_t location_;
  Registers now_{};
  Registers start_{};
  std::array<Registers, 4> remembered_{};
  std::size_t depth_ = 0;
};

template <class Number>
bool fits(std::int64_t number) {
  return number >= std::numeric_limits<Number>::min() && number <= std::numeric_limits<Number>::max();
}

}  // namespace

Row find_row_by_table(const CallFrameEntry& entry, std::uintptr_t address) noexcept {
  Interpreter interpreter{entry, address};
  Row row;
  if (!interpreter.run()) {
    return row;
  }
  const Registers& found = interpreter.result();
  if (found.return_address.rule == Rule::Undefined) {
    row.kind = RowKind::Outermost;
    return row;
  }
  const bool is_usable = found.cfa_understood && found.cfa.base != Base::Cfa &&
                         found.return_address.rule == Rule::InMemory && fits<std::int32_t>(found.cfa.offset) &&
                         fits<std::int16_t>(found.cfa.added) && fits<std::int32_t>(found.return_address.place.offset);
  if (!is_usable) {
    return row;
  }
  row.kind = RowKind::Table;
  row.cfa_base = found.cfa.base;
  row.cfa_offset = static_cast<std::int32_t>(found.cfa.offset);
  row.cfa_indirect = found.cfa.indirect ? 1 : 0;
  row.cfa_added = static_cast<std::int16_t>(found.cfa.added);
  row.return_base = found.return_address.place.base;
  row.return_offset = static_cast<std::int32_t>(found.return_address.place.offset);
  row.interrupted = entry.is_signal ? 1 : 0;
  row.fp = found.fp.rule == Rule::Same                                                    ? SavedFramePointer::Same
           : found.fp.rule == Rule::InMemory && fits<std::int32_t>(found.fp.place.offset) ? SavedFramePointer::InMemory
                                                                                          : SavedFramePointer::Unknown;
  if (row.fp == SavedFramePointer::InMemory) {
    row.fp_base = found.fp.place.base;
    row.fp_offset = static_cast<std::int32_t>(found.fp.place.offset);
  }
  return row;
}

}  // namespace tidemark::stacks
