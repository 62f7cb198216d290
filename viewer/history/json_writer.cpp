#include "viewer/history/json_writer.hpp"

#include "viewer/clean_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tidemark::viewer {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;

std::string quoted(std::string_view text) {
  return escape_in_json(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void JsonWriter::finish() {
  put("\n");
  bytes_.write(buffer_);
  buffer_.clear();
}

void JsonWriter::put(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffer) {
    bytes_.write(buffer_);
    buffer_.clear();
  }
}

void JsonWriter::begin_value() {
  if (!follows_key_ && !has_values_.empty()) {
    if (has_values_.back()) {
      put(",");
    }
    has_values_.back() = true;
  }
  follows_key_ = false;
}

void JsonWriter::begin_dict() {
  begin_value();
  put("{");
  has_values_.push_back(false);
}

void JsonWriter::begin_list() {
  begin_value();
  put("[");
  has_values_.push_back(false);
}

void JsonWriter::end_container(char end) {
  has_values_.pop_back();
  put({&end, 1});
}

void JsonWriter::end_dict() { end_container('}'); }
void JsonWriter::end_list() { end_container(']'); }

void JsonWriter::key(std::string_view name) {
  begin_value();
  put(quoted(name));
  put(":");
  follows_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  begin_value();
  put(quoted(value));
}

void JsonWriter::integer(std::uint64_t value) {
  begin_value();
  put(fmt::format("{}", value));
}

void JsonWriter::real(double value) {
  begin_value();
  put(nlohmann::json(value).dump());
}

void JsonWriter::boolean(bool value) {
  begin_value();
  put(value ? "true" : "false");
}

void JsonWriter::null() {
  begin_value();
  put("null");
}

void JsonWriter::pair(std::uint64_t first, std::uint64_t second) {
  begin_value();
  put(fmt::format("[{},{}]", first, second));
}

}  // namespace tidemark::viewer
