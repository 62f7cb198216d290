#include "viewer/history/load_history.hpp"

#include "viewer/exit_code.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tidemark::viewer {
namespace {

[[noreturn]] void fail(const std::string& path, Error error) {
  switch (error.code) {
    case ErrorCode::NotFound:
      throw Failure(ExitCode::NotFound, fmt::format("{}: no such file", path));
    case ErrorCode::PermissionDenied:
      throw Failure(ExitCode::PermissionDenied, fmt::format("{}: may not be read by this user", path));
    case ErrorCode::BadFormat:
      throw Failure(ExitCode::Failed, fmt::format("{}: no snapshot of tidemark, or only a part of one", path));
    case ErrorCode::WrongVersion:
      throw Failure(ExitCode::WrongLayout,
                    fmt::format("{}: of another version; use the tidemark that came with its library", path));
    default:
      throw Failure(ExitCode::Failed, fmt::format("{}: cannot be read ({})", path, std::strerror(error.native)));
  }
}

}  // namespace

MemorySnapshot snapshot_of(history::History history, AddressNames& names, SnapshotSource source) {
  MemorySnapshot snapshot{.source = std::move(source)};
  for (const history::Stack& stack : history.stacks) {
    snapshot.stacks.push_back(name_stack(stack, names));
  }
  snapshot.recording = history.recording;
  snapshot.devices = std::move(history.devices);
  return snapshot;
}

history::History read_history_file(const std::string& path) {
  const auto reader = history::HistoryReader::open(path);
  if (!reader) {
    fail(path, reader.error());
  }
  auto read = reader.value().read();
  if (!read) {
    fail(path, read.error());
  }
  return std::move(read).value();
}

}  // namespace tidemark::viewer
