// Reads pickles that are nothing but data: lists, dicts, tuples, texts, numbers. Never calls or imports anything: an
// opcode that would is refused by name, as is whatever is not a pickle, or only the beginning of one.
#pragma once

#include "viewer/history/value.hpp"

#include <string_view>

namespace tidemark::viewer {

// Throws BadDocument.
[[nodiscard]] Value read_pickle(std::string_view bytes);

}  // namespace tidemark::viewer
