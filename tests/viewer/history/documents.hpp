// Documents in memory: written to text and read again.
#pragma once

#include <string>
#include <string_view>

#include "viewer/history/byte_sink.hpp"
#include "viewer/history/json_writer.hpp"
#include "viewer/history/pickle_writer.hpp"
#include "viewer/history/snapshot_document.hpp"

namespace tidemark::test {

class TextSink final : public viewer::ByteSink {
 public:
  void write(std::string_view bytes) override { text_ += bytes; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <class Writer, class Fill>
std::string written(Fill&& fill) {
  TextSink sink;
  Writer writer{sink};
  fill(writer);
  writer.finish();
  return sink.text();
}

inline std::string pickle_of(const viewer::MemorySnapshot& snapshot) {
  return written<viewer::PickleWriter>([&](viewer::PickleWriter& to) { viewer::write_document(snapshot, to); });
}

inline std::string json_of(const viewer::MemorySnapshot& snapshot) {
  return written<viewer::JsonWriter>([&](viewer::JsonWriter& to) { viewer::write_document(snapshot, to); });
}

}  // namespace tidemark::test
