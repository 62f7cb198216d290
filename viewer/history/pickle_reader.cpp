#include "viewer/history/pickle_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "viewer/history/pickle_opcodes.hpp"

namespace tidemark::viewer {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Value read() {
    for (;;) {
      const unsigned char opcode = byte();
      if (opcode == pickle::kStop) {
        return pop();
      }
      step(opcode);
    }
  }

 private:
  [[noreturn]] static void fail(const char* why) { throw BadDocument(why); }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail("ends in the middle; it was cut short");
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  unsigned char byte() { return static_cast<unsigned char>(take(1).front()); }
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    const std::string_view bytes = take(count);
    for (std::size_t i = 0; i < count; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return value;
  }

  void push(Value value) { stack_.push_back(std::move(value)); }
  Value pop() {
    if (stack_.size() <= floor()) {
      fail("is damaged: a value is missing");
    }
    Value value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  std::vector<Value> pop_to_mark() {
    if (marks_.empty()) {
      fail("is damaged: a group has no beginning");
    }
    std::vector<Value> values;
    for (std::size_t i = marks_.back(); i < stack_.size(); ++i) {
      values.push_back(std::move(stack_[i]));
    }
    stack_.resize(marks_.back());
    marks_.pop_back();
    return values;
  }

  static const void* identity(const Value& value) {
    if (const ListPtr list = value.list()) {
      return list.get();
    }
    return value.dict().get();
  }

  // `child` becomes a part of `parent`, and changes no more: so nothing contains itself, however often it is named.
  void enclose(const Value& child, const void* parent) {
    const void* const inner = identity(child);
    if (inner == nullptr) {
      return;
    }
    if (inner == parent || closed_.contains(parent)) {
      fail("has a part that may contain itself; no snapshot has");
    }
    constexpr std::size_t kMostDepth = 64;
    std::size_t& depth = depths_[parent];
    depth = std::max(depth, depths_[inner] + 1);
    if (depth > kMostDepth) {
      fail("is nested too deeply; no snapshot is");
    }
    closed_.insert(inner);
  }

  Value& top() {
    if (stack_.size() <= floor()) {
      fail("is damaged: a value is missing");
    }
    return stack_.back();
  }

  void append(std::vector<Value> values) {
    const ListPtr list = top().list();
    if (!list) {
      fail("is damaged: what is appended to is no list");
    }
    for (Value& value : values) {
      enclose(value, list.get());
      list->items.push_back(std::move(value));
    }
  }

  void set(std::vector<Value> values) {
    const DictPtr dict = top().dict();
    if (!dict || values.size() % 2 != 0) {
      fail("is damaged: what is set is in no dict");
    }
    for (std::size_t i = 0; i < values.size(); i += 2) {
      TextPtr key = values[i].shared_text();
      if (!key) {
        fail("has a dict whose keys are no texts; no snapshot has");
      }
      enclose(values[i + 1], dict.get());
      dict->members.emplace_back(std::move(key), std::move(values[i + 1]));
    }
  }

  void push_list(std::vector<Value> values) {
    push(Value{std::make_shared<ValueList>()});
    append(std::move(values));
  }
  void push_tuple(std::size_t count) {
    std::vector<Value> values(count);
    for (std::size_t i = count; i > 0; --i) {
      values[i - 1] = pop();
    }
    push_list(std::move(values));
  }
  void push_text(std::uint64_t length) { push(Value{TextPtr{std::make_shared<const std::string>(take(length))}}); }

  void push_long(std::size_t count) {
    if (count > 8) {
      fail("has a number of more than 64 bits; no snapshot has");
    }
    const std::uint64_t bits = number(count);
    const std::size_t unused = 64 - 8 * count;
    // The highest byte there is has the sign.
    push(Value{count == 0 ? std::int64_t{0} : static_cast<std::int64_t>(bits << unused) >> unused});
  }

  void step(unsigned char opcode);
  bool step_number(unsigned char opcode);
  bool step_container(unsigned char opcode);
  bool step_memo(unsigned char opcode);

  void remember(std::uint64_t index) {
    if (memo_.size() <= index) {
      if (index > bytes_.size()) {
        fail("is damaged: it refers to what cannot be there");
      }
      memo_.resize(index + 1);
    }
    memo_[index] = top();
  }
  void recall(std::uint64_t index) {
    if (index >= memo_.size()) {
      fail("is damaged: it refers to what isn't there");
    }
    push(memo_[index]);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Value> memo_;
  std::unordered_set<const void*> closed_;
  std::unordered_map<const void*, std::size_t> depths_;
};

bool Reader::step_number(unsigned char opcode) {
  switch (opcode) {
    case pickle::kBinInt:
      push(Value{std::int64_t{static_cast<std::int32_t>(number(4))}});
      return true;
    case pickle::kBinInt1:
      push(Value{static_cast<std::int64_t>(number(1))});
      return true;
    case pickle::kBinInt2:
      push(Value{static_cast<std::int64_t>(number(2))});
      return true;
    case pickle::kLong1:
      push_long(byte());
      return true;
    case pickle::kBinFloat: {
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) {
        bits = bits << 8 | byte();
      }
      push(Value{std::bit_cast<double>(bits)});
      return true;
    }
    case pickle::kNewTrue:
    case pickle::kNewFalse:
      push(Value{opcode == pickle::kNewTrue});
      return true;
    case pickle::kNone:
      push(Value{});
      return true;
    default:
      return false;
  }
}

bool Reader::step_container(unsigned char opcode) {
  switch (opcode) {
    case pickle::kMark:
      marks_.push_back(stack_.size());
      return true;
    case pickle::kEmptyDict:
      push(Value{std::make_shared<ValueDict>()});
      return true;
    case pickle::kDict: {
      std::vector<Value> values = pop_to_mark();
      push(Value{std::make_shared<ValueDict>()});
      set(std::move(values));
      return true;
    }
    case pickle::kSetItems:
      set(pop_to_mark());
      return true;
    case pickle::kSetItem: {
      Value value = pop();
      Value key = pop();
      set({std::move(key), std::move(value)});
      return true;
    }
    case pickle::kEmptyList:
    case pickle::kEmptyTuple:
      push_list({});
      return true;
    case pickle::kList:
    case pickle::kTuple:
      push_list(pop_to_mark());
      return true;
    case pickle::kAppends:
      append(pop_to_mark());
      return true;
    case pickle::kAppend:
      append({pop()});
      return true;
    case pickle::kTuple1:
    case pickle::kTuple2:
    case pickle::kTuple3:
      push_tuple(std::size_t{opcode} - pickle::kTuple1 + 1);
      return true;
    default:
      return false;
  }
}

bool Reader::step_memo(unsigned char opcode) {
  switch (opcode) {
    case pickle::kBinPut:
      remember(number(1));
      return true;
    case pickle::kLongBinPut:
      remember(number(4));
      return true;
    case pickle::kMemoize:
      remember(memo_.size());
      return true;
    case pickle::kBinGet:
      recall(number(1));
      return true;
    case pickle::kLongBinGet:
      recall(number(4));
      return true;
    default:
      return false;
  }
}

void Reader::step(unsigned char opcode) {
  switch (opcode) {
    case pickle::kProto:
      static_cast<void>(byte());
      return;
    case pickle::kFrame:
      static_cast<void>(number(8));
      return;
    case pickle::kBinUnicode:
      return push_text(number(4));
    case pickle::kShortBinUnicode:
      return push_text(number(1));
    case pickle::kBinUnicode8:
      return push_text(number(8));
    default:
      break;
  }
  if (!step_number(opcode) && !step_container(opcode) && !step_memo(opcode)) {
    throw BadDocument(fmt::format(
        "has more than plain data in it (opcode {:#04x}), which could run code when it is loaded; no snapshot "
        "needs that, so it is not read",
        opcode));
  }
}

}  // namespace

Value read_pickle(std::string_view bytes) { return Reader{bytes}.read(); }

}  // namespace tidemark::viewer
