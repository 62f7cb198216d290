#include "shared/history/word_file.hpp"

#include <sys/stat.h>

namespace tidemark::history {

std::uint64_t WordFile::bytes() const noexcept {
  struct stat info {};
  return ::fstat(file_.get(), &info) == 0 && info.st_size > 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Table Table::checked(std::uint64_t offset, std::uint64_t count, std::size_t entry_words, std::uint64_t most,
                     std::uint64_t file_bytes) noexcept {
  const std::uint64_t entry_bytes = entry_words * sizeof(std::uint64_t);
  const bool fits = offset >= kTablesOffset && offset % sizeof(std::uint64_t) == 0 && offset <= file_bytes &&
                    count <= most && count <= (file_bytes - offset) / entry_bytes;
  return fits ? Table{offset, count} : Table{};
}

}  // namespace tidemark::history
