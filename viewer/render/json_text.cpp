#include "viewer/render/json_text.hpp"

#include "viewer/clean_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tidemark::viewer {
namespace {

bool is_plain(char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; }

}  // namespace

void JsonText::value(std::string_view value) {
  separate();
  if (std::all_of(value.begin(), value.end(), is_plain)) {
    text_ += '"';
    text_ += value;
    text_ += '"';
  } else {
    text_ += escape_in_json(nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

void JsonText::value(double value) { put(nlohmann::json(value).dump()); }

}  // namespace tidemark::viewer
