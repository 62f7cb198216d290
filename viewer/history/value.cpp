#include "viewer/history/value.hpp"

namespace tidemark::viewer {

std::uint64_t Value::integer() const {
  const auto* number = std::get_if<std::int64_t>(&data_);
  return number == nullptr ? 0 : static_cast<std::uint64_t>(*number);
}

std::string_view Value::text() const {
  const auto* text = std::get_if<TextPtr>(&data_);
  return text == nullptr ? std::string_view{} : std::string_view{**text};
}

bool Value::is_true() const {
  const auto* truth = std::get_if<bool>(&data_);
  return truth != nullptr && *truth;
}

const std::vector<Value>& Value::items() const {
  static const std::vector<Value> kNone;
  const auto* list = std::get_if<ListPtr>(&data_);
  return list == nullptr ? kNone : (*list)->items;
}

const Value& Value::operator[](std::string_view key) const {
  static const Value kNone;
  if (const auto* dict = std::get_if<DictPtr>(&data_)) {
    for (const auto& [name, value] : (*dict)->members) {
      if (*name == key) {
        return value;
      }
    }
  }
  return kNone;
}

ListPtr Value::list() const {
  const auto* list = std::get_if<ListPtr>(&data_);
  return list == nullptr ? nullptr : *list;
}

DictPtr Value::dict() const {
  const auto* dict = std::get_if<DictPtr>(&data_);
  return dict == nullptr ? nullptr : *dict;
}

TextPtr Value::shared_text() const {
  const auto* text = std::get_if<TextPtr>(&data_);
  return text == nullptr ? nullptr : *text;
}

}  // namespace tidemark::viewer
