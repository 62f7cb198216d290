#include "viewer/history/json_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidemark::viewer {
namespace {

class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] Value result() { return std::move(root_); }

  bool null() override { return put(Value{}); }
  bool boolean(bool value) override { return put(Value{value}); }
  bool number_integer(number_integer_t value) override { return put(Value{std::int64_t{value}}); }
  bool number_unsigned(number_unsigned_t value) override { return put(Value{static_cast<std::int64_t>(value)}); }
  bool number_float(number_float_t value, const string_t&) override { return put(Value{value}); }
  bool string(string_t& value) override { return put(Value{text_of(value)}); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    keys_.back() = text_of(value);
    return true;
  }
  bool start_object(std::size_t) override { return open(Value{std::make_shared<ValueDict>()}); }
  bool start_array(std::size_t) override { return open(Value{std::make_shared<ValueList>()}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw BadDocument(fmt::format("is no whole JSON document (byte {})", position));
  }

 private:
  static constexpr std::size_t kMostDepth = 64;

  TextPtr text_of(const std::string& text) {
    TextPtr& known = texts_[text];
    if (!known) {
      known = std::make_shared<const std::string>(text);
    }
    return known;
  }

  bool open(Value value) {
    if (open_.size() == kMostDepth) {
      throw BadDocument("is nested too deeply; no snapshot is");
    }
    open_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Value value = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    const bool is_stack = !keys_.empty() && keys_.back() && *keys_.back() == "frames";
    return put(is_stack ? same_stack(std::move(value)) : std::move(value));
  }

  // A document writes each stack out wherever it occurs.
  Value same_stack(Value frames) {
    std::string text;
    for (const Value& frame : frames.items()) {
      text += fmt::format("{}\x1f{}\x1f{}\n", frame["name"].text(), frame["filename"].text(), frame["line"].integer());
    }
    return stacks_.try_emplace(std::move(text), std::move(frames)).first->second;
  }

  bool put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (const ListPtr list = open_.back().list()) {
      list->items.push_back(std::move(value));
    } else {
      open_.back().dict()->members.emplace_back(keys_.back(), std::move(value));
    }
    return true;
  }

  Value root_;
  std::vector<Value> open_;
  std::vector<TextPtr> keys_;  // of each open container the last
  std::unordered_map<std::string, TextPtr> texts_;
  std::unordered_map<std::string, Value> stacks_;
};

}  // namespace

Value read_json(std::string_view bytes) {
  Builder builder;
  nlohmann::json::sax_parse(bytes, &builder);
  return builder.result();
}

}  // namespace tidemark::viewer
