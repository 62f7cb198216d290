#include "viewer/history/open_snapshot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/history/layout.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/names.hpp"
#include "viewer/exit_code.hpp"
#include "viewer/history/json_reader.hpp"
#include "viewer/history/load_history.hpp"
#include "viewer/history/pickle_opcodes.hpp"
#include "viewer/history/pickle_reader.hpp"
#include "viewer/history/read_document.hpp"
#include "viewer/history/symbol_names.hpp"
#include "viewer/size_text.hpp"

namespace tidemark::viewer {
namespace {

constexpr std::string_view kAllowed = "a .tmsnap, or a snapshot as .pickle or .json";

[[noreturn]] void fail(const std::string& path, int error) {
  const ExitCode code = error == ENOENT                     ? ExitCode::NotFound
                        : error == EACCES || error == EPERM ? ExitCode::PermissionDenied
                                                            : ExitCode::Failed;
  throw Failure(code, fmt::format("{}: {}", path, std::strerror(error)));
}

// An ordinary file, open.
class Source {
 public:
  // Not waiting for who may open the other end of a pipe.
  explicit Source(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    struct stat info {};
    if (!file_ || ::fstat(file_.get(), &info) != 0) {
      fail(path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
      throw Failure(ExitCode::Failed,
                    fmt::format("{} is {}; allowed: {}", path,
                                S_ISDIR(info.st_mode) ? "a directory" : "no ordinary file", kAllowed));
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  // The first `most` bytes, or all there are.
  [[nodiscard]] std::string read(std::uint64_t most) const {
    std::string bytes(static_cast<std::size_t>(std::min(most, size_)), '\0');
    std::size_t at = 0;
    while (at < bytes.size()) {
      const ssize_t got = ::pread(file_.get(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        fail(path_, errno);
      }
      if (got == 0) {
        break;
      }
      at += static_cast<std::size_t>(got);
    }
    bytes.resize(at);
    return bytes;
  }

 private:
  const std::string& path_;
  const segment::FileHandle file_;
  std::uint64_t size_ = 0;
};

bool is_history(std::string_view bytes) {
  std::uint64_t magic = 0;
  if (bytes.size() >= sizeof magic) {
    std::memcpy(&magic, bytes.data(), sizeof magic);
  }
  return magic == history::kMagic;
}

bool is_json(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

std::string file_name(std::string_view path) { return std::string{path.substr(path.rfind('/') + 1)}; }

// Of a process without a segment nobody wrote down who it is.
SnapshotSource source_of(const std::string& path, const history::Recording& recording) {
  const std::string& command = recording.command;
  return {.id = recording.nonce == 0 ? std::string{} : segment::id_of(recording.nonce),
          .title = command.empty()           ? file_name(path)
                   : recording.label.empty() ? command
                                             : fmt::format("{}: {}", recording.label, command),
          .is_file = true};
}

TakenSnapshot of_history(const std::string& path) {
  history::History history = read_history_file(path);
  SymbolNames names{history, 0};
  SnapshotSource source = source_of(path, history.recording);
  TakenSnapshot taken{.snapshot = snapshot_of(std::move(history), names, std::move(source))};
  taken.notes = names.notes();
  return taken;
}

TakenSnapshot of_document(const std::string& path, const Value& document) {
  MemorySnapshot snapshot = read_document(document);
  snapshot.source.is_file = true;
  if (snapshot.source.title.empty()) {
    snapshot.source.title = file_name(path);
  }
  return {.snapshot = std::move(snapshot)};
}

bool is_pickle(std::string_view bytes) {
  return !bytes.empty() && static_cast<unsigned char>(bytes.front()) == pickle::kProto;
}

}  // namespace

std::variant<TakenSnapshot, Value> open_snapshot(const std::string& path) {
  constexpr std::uint64_t kBeginning = 4096;
  const Source source{path};
  const std::string beginning = source.read(kBeginning);
  if (is_history(beginning)) {
    return of_history(path);
  }
  if (!is_json(beginning) && !is_pickle(beginning)) {
    throw Failure(ExitCode::Failed, beginning.empty() ? fmt::format("{} is empty; allowed: {}", path, kAllowed)
                                                      : fmt::format("{} is no snapshot; allowed: {}", path, kAllowed));
  }
  if (source.size() > kLargestDocument) {
    throw Failure(ExitCode::Failed, fmt::format("{} has {}; a .pickle or .json may have at most {}", path,
                                                size_words(source.size()), size_words(kLargestDocument)));
  }
  const std::string bytes = source.read(source.size());
  try {
    if (is_pickle(bytes)) {
      return of_document(path, read_pickle(bytes));
    }
    Value document = read_json(bytes);
    return document["segments"].list() ? std::variant<TakenSnapshot, Value>{of_document(path, document)}
                                       : std::variant<TakenSnapshot, Value>{std::move(document)};
  } catch (const BadDocument& bad) {
    throw Failure(ExitCode::Failed, fmt::format("{} {}", path, bad.what()));
  }
}

}  // namespace tidemark::viewer
