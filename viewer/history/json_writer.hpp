// A document as JSON: the same names and nesting as the pickle, pairs as lists, everything shared written out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/history/byte_sink.hpp"
#include "viewer/history/document_sink.hpp"

namespace tidemark::viewer {

class JsonWriter final : public DocumentSink {
 public:
  // Requires: `bytes` outlives this.
  explicit JsonWriter(ByteSink& bytes) : bytes_(bytes) {}

  void finish();  // after the one value

  void begin_dict() override;
  void end_dict() override;
  void begin_list() override;
  void end_list() override;
  void key(std::string_view name) override;
  void text(std::string_view value) override;
  void integer(std::uint64_t value) override;
  void real(double value) override;
  void boolean(bool value) override;
  void null() override;
  void pair(std::uint64_t first, std::uint64_t second) override;
  [[nodiscard]] bool begin_shared(std::uint64_t) override { return true; }
  void end_shared(std::uint64_t) override {}

 private:
  void put(std::string_view bytes);
  void begin_value();
  void end_container(char end);

  ByteSink& bytes_;
  std::vector<bool> has_values_;  // of the containers that are open
  bool follows_key_ = false;
  std::string buffer_;
};

}  // namespace tidemark::viewer
