#include "client/library/export_history.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "client/library/command.hpp"
#include "client/library/failure.hpp"

namespace tidemark::client {
namespace {

// A file that is there for as long as it is needed.
class TemporarySnapshot {
 public:
  // Beside the file that it becomes, where there is room for it.
  explicit TemporarySnapshot(const std::string& path) {
    static std::atomic<unsigned> made{0};
    path_ = path + "." + std::to_string(getpid()) + "-" + std::to_string(made.fetch_add(1)) + ".tmsnap";
  }
  TemporarySnapshot(const TemporarySnapshot&) = delete;
  TemporarySnapshot& operator=(const TemporarySnapshot&) = delete;
  ~TemporarySnapshot() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A name that is nothing but an ending would make a hidden file that hardly anybody meant.
bool has_ending(std::string_view path, std::string_view ending) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.size() > ending.size() && name.ends_with(ending);
}

bool is_for_the_command(const std::string& path) {
  return has_ending(path, ".pickle") || has_ending(path, ".json") || has_ending(path, ".csv");
}

// A word that begins with a hyphen would be taken for an option.
std::string as_operand(const std::string& path) { return path.starts_with('-') ? "./" + path : path; }

}  // namespace

void export_history(Subject& subject, const std::string& path) {
  const bool is_converted = is_for_the_command(path);
  if (!is_converted && !has_ending(path, ".tmsnap")) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                  quoted(path) + "; allowed: a name that ends in .pickle (for memory_viz), .json, .csv or .tmsnap");
  }
  const TemporarySnapshot saved{path};
  subject.save_snapshot(saved.path());
  if (is_converted) {
    run_tidemark({"snapshot", "--force", "--output=" + path, as_operand(saved.path())});
  } else if (std::rename(saved.path().c_str(), path.c_str()) != 0) {
    throw system_failure(quoted(path), errno);
  }
}

}  // namespace tidemark::client
