#include "client/library/failure.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include "shared/segment/text.hpp"

namespace tidemark::client {
namespace {

// Plain memory, so that a thread's end has nothing to destroy.
thread_local char detail_of_thread[512] = "";

}  // namespace

Failure system_failure(const std::string& what, int number) {
  const int code = number == EACCES || number == EPERM                        ? TIDEMARK_ERROR_PERMISSION
                   : number == ENOSPC || number == ENOMEM || number == EDQUOT ? TIDEMARK_ERROR_NO_SPACE
                                                                              : TIDEMARK_ERROR_SYSTEM;
  return {code, what + ": " + std::strerror(number)};
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 200;
  const std::string_view shown = segment::cut_text(text, kShown);
  return "'" + std::string{shown} + (shown.size() < text.size() ? "...'" : "'");
}

void remember_detail(const char* detail) noexcept {
  std::strncpy(detail_of_thread, detail, sizeof detail_of_thread - 1);
  detail_of_thread[sizeof detail_of_thread - 1] = '\0';
}

const char* last_detail() noexcept { return detail_of_thread; }

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, std::string{name} + " is NULL");
  }
}

}  // namespace tidemark::client
