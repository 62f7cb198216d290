#include "viewer/file_limit.hpp"

#include <sys/resource.h>

namespace tidemark::viewer {

void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
  }
}

}  // namespace tidemark::viewer
