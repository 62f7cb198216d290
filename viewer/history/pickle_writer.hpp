// Python's pickle, protocol 2, in the few opcodes that PyTorch's viewer in the browser reads too (docs/snapshots.md).
//
// Lists and dicts are filled in groups of at most 1000: that viewer passes a group on as the arguments of one call, and
// a long one ends with "Maximum call stack size exceeded". Integers have at most 8 bytes: with 9 it sees another type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "viewer/history/byte_sink.hpp"
#include "viewer/history/document_sink.hpp"

namespace tidemark::viewer {

class PickleWriter final : public DocumentSink {
 public:
  static constexpr std::size_t kGroup = 1000;

  // Writes the head. Requires: `bytes` outlives this.
  explicit PickleWriter(ByteSink& bytes);

  // After the one value that a pickle is.
  void finish();

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
  [[nodiscard]] bool begin_shared(std::uint64_t id) override;
  void end_shared(std::uint64_t id) override;

 private:
  struct Open {
    bool is_dict;
    std::size_t in_group = 0;
  };

  void byte(unsigned char value);
  void little_endian(std::uint64_t value, std::size_t bytes);
  void begin_value();
  void end_value();
  void close_group(Open& open);
  void end_container();
  void put_integer(std::uint64_t value);
  void put_text(std::string_view value);
  void put_memo(std::uint32_t index);
  void put_reference(std::uint32_t index);

  ByteSink& bytes_;
  std::vector<Open> open_;
  std::uint32_t memos_ = 0;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<std::uint64_t, std::uint32_t> shared_;
  std::string buffer_;
};

}  // namespace tidemark::viewer
