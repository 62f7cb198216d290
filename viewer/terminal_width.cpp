#include "viewer/terminal_width.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tidemark::viewer {

std::size_t terminal_width() {
  winsize window{};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

}  // namespace tidemark::viewer
