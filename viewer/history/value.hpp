// What a pickle or a JSON document said: plain data, in which equal parts may be shared.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark::viewer {

// `what` is a clause behind a file's name: "ends in the middle".
class BadDocument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ValueList;
struct ValueDict;
using ListPtr = std::shared_ptr<ValueList>;
using DictPtr = std::shared_ptr<ValueDict>;
using TextPtr = std::shared_ptr<const std::string>;

class Value {
 public:
  Value() = default;
  template <class T>
  explicit Value(T value) : data_(std::move(value)) {}

  // Null or empty where it is something else: what a document of somebody else's lacks reads as nothing.
  [[nodiscard]] std::uint64_t integer() const;
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] bool is_true() const;
  [[nodiscard]] const std::vector<Value>& items() const;
  // The member of that name; the null value where there is none.
  [[nodiscard]] const Value& operator[](std::string_view key) const;

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  [[nodiscard]] ListPtr list() const;
  [[nodiscard]] DictPtr dict() const;
  [[nodiscard]] TextPtr shared_text() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, TextPtr, ListPtr, DictPtr> data_;
};

struct ValueList {
  std::vector<Value> items{};
};

struct ValueDict {
  std::vector<std::pair<TextPtr, Value>> members{};
};

}  // namespace tidemark::viewer
