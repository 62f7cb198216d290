// Writes a JSON document as it comes, value by value, into a string: nothing is kept of it but the commas.
//
//   JsonText json(text);
//   json.begin_object();
//   json.member("pid", 4711);
//   json.key("devices").begin_list();
//   ...
// Whoever calls sees to it that what begins ends, and that each key has one value.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::viewer {

class JsonText {
 public:
  // Appends. Requires: `text` outlives this.
  explicit JsonText(std::string& text) : text_(text) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_list() { begin('['); }
  void end_list() { end(']'); }

  // Requires: nothing in `name` that JSON escapes.
  JsonText& key(std::string_view name) {
    separate();
    text_ += '"';
    text_ += name;
    text_ += "\":";
    is_first_ = true;
    return *this;
  }

  // Of a name that may hold anything.
  JsonText& text_key(std::string_view name) {
    value(name);
    text_ += ':';
    is_first_ = true;
    return *this;
  }

  void null() { put("null"); }
  void value(bool value) { put(value ? "true" : "false"); }
  // Invalid UTF-8 is replaced.
  void value(std::string_view value);
  void value(const char* value) { this->value(std::string_view{value}); }
  void value(double value);
  template <std::integral Integer>
  void value(Integer value) {
    char digits[24];
    put({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
  }
  template <class T>
  void value(const std::optional<T>& value) {
    value ? this->value(*value) : null();
  }

  template <class T>
  void member(std::string_view name, const T& value) {
    key(name).value(value);
  }
  void null_member(std::string_view name) { key(name).null(); }

  // Where others append a whole value.
  [[nodiscard]] std::string& place_of_value() {
    separate();
    return text_;
  }

 private:
  void separate() {
    if (!is_first_) {
      text_ += ',';
    }
    is_first_ = false;
  }
  void put(std::string_view value) {
    separate();
    text_ += value;
  }
  void begin(char bracket) {
    separate();
    text_ += bracket;
    is_first_ = true;
  }
  void end(char bracket) {
    text_ += bracket;
    is_first_ = false;
  }

  std::string& text_;
  bool is_first_ = true;  // nothing stands before the next value that it needs a comma from
};

}  // namespace tidemark::viewer
