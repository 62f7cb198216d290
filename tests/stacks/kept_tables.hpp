// The tables of a history, in memory, and what a reader finds in them.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "shared/history/reader.hpp"
#include "shared/history/snapshot_image.hpp"

namespace tidemark::test {

class KeptTables {
 public:
  KeptTables() {
    const history::Settings settings{.stacks = history::Stacks::All, .max_entries = 16384};
    // The clocks' difference is none, so that times come back as they were given.
    if (!image_.make({.settings = settings}, history::process_sizes(settings), {})) {
      throw std::runtime_error("no memory");
    }
  }

  [[nodiscard]] history::ProcessTables& tables() { return image_.tables(); }

  [[nodiscard]] history::History read() const {
    std::string directory = "/tmp/tidemark-test.XXXXXX";
    if (::mkdtemp(directory.data()) == nullptr) {
      throw std::runtime_error("no temporary directory");
    }
    const std::string path = directory + "/tables.tmsnap";
    const Status saved = image_.save(path.c_str());
    auto reader = history::HistoryReader::open(path);
    ::unlink(path.c_str());
    ::rmdir(directory.c_str());
    if (!saved || !reader) {
      throw std::runtime_error("cannot be read back");
    }
    return std::move(reader.value().read()).value();
  }

 private:
  history::SnapshotImage image_;
};

}  // namespace tidemark::test
