#include "shim/stacks/python_texts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "shim/stacks/python_reference.hpp"

namespace tidemark::stacks {
namespace {

// Longer ones are cut: a file's at its beginning, since its end tells more.
constexpr std::size_t kMostText = 384;

constexpr std::uint64_t word_of(const history::PythonFrame& frame) {
  return frame.name | std::uint64_t{frame.file} << 32;  // numbers of strings are far below 2^31
}

std::uint64_t seal(std::uint64_t file_hash, std::uint64_t name_hash, std::uint64_t number) noexcept {
  const std::uint64_t mixed = (file_hash * 0x9E3779B97F4A7C15) ^ std::rotl(name_hash * 0xC2B2AE3D27D4EB4F, 21) ^
                              std::rotl(number * 0x165667B19E3779F9, 42);
  return mixed ^ (mixed >> 29);
}

PythonObject* object_in(const PythonObject* code, unsigned word) noexcept {
  PythonObject* object = nullptr;
  std::memcpy(&object, reinterpret_cast<const std::byte*>(code) + word * sizeof object, sizeof object);
  return object;
}

std::uint32_t words_that_are(const PythonObject* code, const PythonObject* object, std::uint32_t among) noexcept {
  std::uint32_t found = 0;
  for (std::uint32_t rest = among; rest != 0; rest &= rest - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(rest));
    if (object_in(code, word) == object) {
      found |= std::uint32_t{1} << word;
    }
  }
  return found;
}

// Its bytes live as long as `text`. A text that can't be written as UTF-8 (lone surrogates) is "?".
std::string_view bytes_of(const PythonFunctions& python, PythonObject* text) noexcept {
  std::ptrdiff_t size = 0;
  const char* bytes = text == nullptr ? nullptr : python.PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) {
    python.PyErr_Clear();
    return "?";
  }
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

history::PythonFrame PythonTexts::frame_of(const PythonFunctions& python, PythonObject* code) noexcept {
  Known known{};
  if (!read_hashes(python, code, known)) {
    return ask(python, code);
  }
  const auto address = reinterpret_cast<std::uint64_t>(code);
  Place& place = places_[(address * 0x9E3779B97F4A7C15) >> (64 - std::countr_zero(kPlaces))];
  const std::uint64_t strings = place.strings.load(std::memory_order_relaxed);
  const std::uint64_t sealed = place.sealed_code.load(std::memory_order_relaxed);
  if ((strings & kKnown) != 0 && place.file_hash.load(std::memory_order_relaxed) == known.file_hash &&
      place.name_hash.load(std::memory_order_relaxed) == known.name_hash &&
      (sealed ^ seal(known.file_hash, known.name_hash, strings)) == address) {
    return {.name = static_cast<history::StringId>(strings),
            .file = static_cast<history::StringId>((strings & ~kKnown) >> 32),
            .line = 0};
  }
  const history::PythonFrame asked = ask(python, code);
  const std::uint64_t kept = word_of(asked) | kKnown;
  place.sealed_code.store(address ^ seal(known.file_hash, known.name_hash, kept), std::memory_order_relaxed);
  place.file_hash.store(known.file_hash, std::memory_order_relaxed);
  place.name_hash.store(known.name_hash, std::memory_order_relaxed);
  place.strings.store(kept, std::memory_order_relaxed);
  return asked;
}

bool PythonTexts::read_hashes(const PythonFunctions& python, const PythonObject* code, Known& known) const noexcept {
  const std::uint32_t file = may_be_file_.load(std::memory_order_relaxed);
  const std::uint32_t name = may_be_name_.load(std::memory_order_relaxed);
  if (learned_from_.load(std::memory_order_relaxed) < kEnough || file == 0 || name == 0) {
    return false;
  }
  const auto hash_in = [&](std::uint32_t words) {
    return static_cast<std::uint64_t>(
        python.PyObject_Hash(object_in(code, static_cast<unsigned>(std::countr_zero(words)))));
  };
  known = {.file_hash = hash_in(file), .name_hash = hash_in(name)};
  return true;
}

void PythonTexts::learn(const PythonObject* code, const PythonObject* file, const PythonObject* name) noexcept {
  may_be_file_.fetch_and(words_that_are(code, file, may_be_file_.load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
  may_be_name_.fetch_and(words_that_are(code, name, may_be_name_.load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
  learned_from_.fetch_add(1, std::memory_order_relaxed);
}

history::PythonFrame PythonTexts::ask(const PythonFunctions& python, PythonObject* code) noexcept {
  const PythonReference file{python, python.PyObject_GetAttrString(code, "co_filename")};
  const PythonReference name{python, python.PyObject_GetAttrString(code, "co_name")};
  if (file.get() != nullptr && name.get() != nullptr && learned_from_.load(std::memory_order_relaxed) < kEnough) {
    learn(code, file.get(), name.get());
  }
  const std::string_view path = bytes_of(python, file.get());
  return {.name = tables_.intern_string(bytes_of(python, name.get()).substr(0, kMostText)),
          .file = tables_.intern_string(path.substr(path.size() - std::min(path.size(), kMostText))),
          .line = 0};
}

}  // namespace tidemark::stacks
