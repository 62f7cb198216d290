#include "viewer/history/open_snapshot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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

namespace tidemark::viewer {
namespace {

constexpr std::string_view kAllowed = "a .tmsnap, or a snapshot as .pickle or .json";

[[noreturn]] void fail(const std::string& path, int error) {
  const ExitCode code = error == ENOENT                     ? ExitCode::NotFound
                        : error == EACCES || error == EPERM ? ExitCode::PermissionDenied
                                                            : ExitCode::Failed;
  throw Failure(code, fmt::format("{}: {}", path, std::strerror(error)));
}

std::string read_all(const std::string& path) {
  // Not waiting for who may open the other end of a pipe.
  const segment::FileHandle file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) {
    fail(path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    throw Failure(ExitCode::Failed, fmt::format("{} is {}; allowed: {}", path,
                                                S_ISDIR(info.st_mode) ? "a directory" : "no ordinary file", kAllowed));
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail(path, errno);
    }
    if (got == 0) {
      break;
    }
    at += static_cast<std::size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

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
                                             : fmt::format("{}: {}", recording.label, command)};
}

MemorySnapshot of_history(const std::string& path) {
  history::History history = read_history_file(path);
  SymbolNames names{history, 0};
  SnapshotSource source = source_of(path, history.recording);
  return snapshot_of(std::move(history), names, std::move(source));
}

MemorySnapshot of_document(const std::string& path, const Value& document) {
  MemorySnapshot snapshot = read_document(document);
  if (snapshot.source.title.empty()) {
    snapshot.source.title = file_name(path);
  }
  return snapshot;
}

}  // namespace

std::variant<MemorySnapshot, Value> open_snapshot(const std::string& path) {
  const std::string bytes = read_all(path);
  try {
    if (is_history(bytes)) {
      return of_history(path);
    }
    if (is_json(bytes)) {
      Value document = read_json(bytes);
      return document["segments"].list() ? std::variant<MemorySnapshot, Value>{of_document(path, document)}
                                         : std::variant<MemorySnapshot, Value>{std::move(document)};
    }
    if (!bytes.empty() && static_cast<unsigned char>(bytes.front()) == pickle::kProto) {
      return of_document(path, read_pickle(bytes));
    }
  } catch (const BadDocument& bad) {
    throw Failure(ExitCode::Failed, fmt::format("{} {}", path, bad.what()));
  }
  throw Failure(ExitCode::Failed, bytes.empty() ? fmt::format("{} is empty; allowed: {}", path, kAllowed)
                                                : fmt::format("{} is no snapshot; allowed: {}", path, kAllowed));
}

}  // namespace tidemark::viewer
