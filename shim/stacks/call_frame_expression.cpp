#include "shim/stacks/call_frame_expression.hpp"

#include <array>
#include <cstddef>

namespace tidemark::stacks {
namespace {

// DWARF 5, 7.7.1.
enum Operation : std::uint8_t {
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0A,
  kConst2s = 0x0B,
  kConst4u = 0x0C,
  kConst4s = 0x0D,
  kConst8u = 0x0E,
  kConstUnsigned = 0x10,
  kConstSigned = 0x11,
  kDup = 0x12,
  kAnd = 0x1A,
  kMinus = 0x1C,
  kPlus = 0x22,
  kPlusUnsigned = 0x23,
  kShiftLeft = 0x24,
  kGreaterOrEqual = 0x2A,
  kLiteral0 = 0x30,
  kLiteral31 = 0x4F,
  kRegister0 = 0x70,
  kRegister31 = 0x8F,
};

// A number that is known, or a place.
struct Value {
  bool known = true;
  std::int64_t number = 0;
  Place place{};
};

constexpr Value known(std::int64_t number) { return {.known = true, .number = number, .place = {}}; }

class Stack {
 public:
  void push(const Value& value) {
    if (size_ == values_.size()) {
      failed_ = true;
    } else {
      values_[size_++] = value;
    }
  }
  Value pop() {
    if (size_ == 0) {
      failed_ = true;
      return {};
    }
    return values_[--size_];
  }
  [[nodiscard]] bool failed() const { return failed_; }
  void fail() { failed_ = true; }

 private:
  std::array<Value, 8> values_{};
  std::size_t size_ = 0;
  bool failed_ = false;
};

// Offsets of real frames are small; what is not has no business here (and sums of these can't overflow).
bool is_small(std::int64_t number) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  return number > -kMost && number < kMost;
}

void add(Stack& stack, Value to, std::int64_t number) {
  if (to.known) {
    to.number = static_cast<std::int64_t>(static_cast<std::uint64_t>(to.number) + static_cast<std::uint64_t>(number));
  } else if (std::int64_t& offset = to.place.indirect ? to.place.added : to.place.offset;
             is_small(number) && is_small(offset + number)) {
    offset += number;
  } else {
    stack.fail();
  }
  stack.push(to);
}

void push_register(Stack& stack, std::uint64_t number, std::int64_t offset, std::uintptr_t pc) {
  if (number == kReturnAddressNumber) {
    stack.push(known(static_cast<std::int64_t>(pc + static_cast<std::uint64_t>(offset))));
  } else if ((number == kStackPointerNumber || number == kFramePointerNumber) && is_small(offset)) {
    const Base base = number == kStackPointerNumber ? Base::StackPointer : Base::FramePointer;
    stack.push({.known = false, .number = 0, .place = {.base = base, .offset = offset, .indirect = false, .added = 0}});
  } else {
    stack.fail();
  }
}

void calculate(Stack& stack, std::uint8_t operation) {
  const Value right = stack.pop();
  const Value left = stack.pop();
  if (operation == kPlus && (left.known || right.known)) {
    add(stack, left.known ? right : left, left.known ? left.number : right.number);
    return;
  }
  if (!left.known || !right.known) {
    stack.fail();
    return;
  }
  switch (operation) {
    case kAnd:
      stack.push(known(left.number & right.number));
      break;
    case kGreaterOrEqual:
      stack.push(known(left.number >= right.number ? 1 : 0));
      break;
    case kShiftLeft:
      stack.push(known(right.number < 0 || right.number > 63
                           ? 0
                           : static_cast<std::int64_t>(static_cast<std::uint64_t>(left.number) << right.number)));
      break;
    default:
      stack.fail();
      break;
  }
}

}  // namespace

bool evaluate(ByteCursor cursor, std::uintptr_t pc, bool starts_with_cfa, Place& result) noexcept {
  Stack stack;
  if (starts_with_cfa) {
    stack.push({.known = false, .number = 0, .place = {}});
  }
  while (!cursor.at_end() && !stack.failed()) {
    const auto operation = cursor.read<std::uint8_t>();
    if (operation >= kLiteral0 && operation <= kLiteral31) {
      stack.push(known(operation - kLiteral0));
      continue;
    }
    if (operation >= kRegister0 && operation <= kRegister31) {
      push_register(stack, operation - kRegister0, cursor.read_sleb(), pc);
      continue;
    }
    switch (operation) {
      case kConst1u:
        stack.push(known(cursor.read<std::uint8_t>()));
        break;
      case kConst1s:
        stack.push(known(cursor.read<std::int8_t>()));
        break;
      case kConst2u:
        stack.push(known(cursor.read<std::uint16_t>()));
        break;
      case kConst2s:
        stack.push(known(cursor.read<std::int16_t>()));
        break;
      case kConst4u:
        stack.push(known(cursor.read<std::uint32_t>()));
        break;
      case kConst4s:
        stack.push(known(cursor.read<std::int32_t>()));
        break;
      case kConst8u:
        stack.push(known(cursor.read<std::int64_t>()));
        break;
      case kConstUnsigned:
        stack.push(known(static_cast<std::int64_t>(cursor.read_uleb())));
        break;
      case kConstSigned:
        stack.push(known(cursor.read_sleb()));
        break;
      case kDup: {
        const Value top = stack.pop();
        stack.push(top);
        stack.push(top);
        break;
      }
      case kPlusUnsigned:
        add(stack, stack.pop(), static_cast<std::int64_t>(cursor.read_uleb()));
        break;
      case kMinus: {
        const Value right = stack.pop();
        if (!right.known || !is_small(right.number)) {
          return false;
        }
        add(stack, stack.pop(), -right.number);
        break;
      }
      case kPlus:
      case kAnd:
      case kGreaterOrEqual:
      case kShiftLeft:
        calculate(stack, operation);
        break;
      case kDeref: {
        Value top = stack.pop();
        if (top.known || top.place.indirect) {
          return false;
        }
        top.place.indirect = true;
        stack.push(top);
        break;
      }
      default:
        return false;
    }
  }
  const Value top = stack.pop();
  result = top.place;
  return !cursor.failed() && !stack.failed() && !top.known;
}

}  // namespace tidemark::stacks
