#include "viewer/history/find_snapshot.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/history/open_snapshot.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace tidemark::viewer {
namespace {

std::variant<TakenSnapshot, Value> open_file(const std::string& path) {
  auto opened = open_snapshot(path);
  if (auto* document = std::get_if<Value>(&opened)) {
    return std::move(*document);
  }
  auto taken = std::get<TakenSnapshot>(std::move(opened));
  add_losses(taken);
  return taken;
}

}  // namespace

bool is_file_name(const std::string& word) {
  constexpr std::array<std::string_view, 4> kEndings{".pickle", ".json", ".tmsnap", ".hist"};
  bool ends_so = false;
  for (const std::string_view ending : kEndings) {
    ends_so |= word.size() > ending.size() && word.ends_with(ending);
  }
  return ends_so || word.find('/') != std::string::npos;
}

bool is_there(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(word, ignored);
}

std::variant<TakenSnapshot, Value> find_snapshot_or_json(const std::string& word, const Context& context) {
  if (is_file_name(word)) {
    return open_file(word);
  }
  const View view = collect(context.directories);
  std::size_t target = 0;
  try {
    target = resolve_target(view, word);
  } catch (const Failure& failure) {
    if (failure.code() != ExitCode::NotFound || !is_there(word)) {
      throw;
    }
    try {
      return open_file(word);
    } catch (const Failure& of_file) {
      throw Failure(of_file.code(),
                    fmt::format("no process '{}', and of the file of that name: {}", word, of_file.what()));
    }
  }
  return take_snapshot(view.processes[target]);
}

TakenSnapshot find_snapshot(const std::string& word, const Context& context) {
  auto found = find_snapshot_or_json(word, context);
  if (auto* taken = std::get_if<TakenSnapshot>(&found)) {
    return std::move(*taken);
  }
  throw Failure(ExitCode::Failed, word + " is no snapshot: it has no list of segments");
}

}  // namespace tidemark::viewer
