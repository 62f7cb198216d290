// A file that is there whole or not at all: written under another name beside it, and renamed at the end.
#pragma once

#include <filesystem>
#include <string_view>

#include "viewer/history/byte_sink.hpp"

namespace tidemark::viewer {

class OutputFile final : public ByteSink {
 public:
  // `option`: of the command, that names another file. Throws Failure: the place is not for a file, or there is one and
  // `overwrite` is false.
  OutputFile(std::filesystem::path path, bool overwrite, std::string_view option, unsigned mode = 0600);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() override;  // without finish() nothing stays

  void write(std::string_view bytes) override;  // throws Failure
  void finish();                                // throws Failure

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail_exists() const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::string_view option_;
  bool overwrite_;
  int fd_ = -1;
};

}  // namespace tidemark::viewer
