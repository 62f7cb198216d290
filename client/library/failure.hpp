// How the client library fails inside: a code of tidemark.h and one line. Exported functions turn it into the code, and
// keep the line for tidemark_error_detail().
#pragma once

#include <pthread.h>

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "client/include/tidemark/tidemark.h"

namespace tidemark::client {

class Failure : public std::runtime_error {
 public:
  Failure(int code, const std::string& detail) : std::runtime_error(detail), code_(code) {}

  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

// "what: No space left on device", TIDEMARK_ERROR_SYSTEM or a better code for that errno.
[[nodiscard]] Failure system_failure(const std::string& what, int number);

// An argument in a detail: 'text', of which no more than 200 bytes are shown, so that what is said about it has room.
[[nodiscard]] std::string quoted(std::string_view text);

// Of the calling thread.
void remember_detail(const char* detail) noexcept;
[[nodiscard]] const char* last_detail() noexcept;

// Keeps a cancellation of this thread (pthread_cancel) pending while it lives: it would unwind through frames that let
// nothing pass.
class CancellationAway {
 public:
  CancellationAway() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &outer_); }
  ~CancellationAway() { pthread_setcancelstate(outer_, nullptr); }
  CancellationAway(const CancellationAway&) = delete;
  CancellationAway& operator=(const CancellationAway&) = delete;

 private:
  int outer_ = PTHREAD_CANCEL_ENABLE;
};

// The body of an exported function: its result, or the code of what it threw. No exception passes.
template <class Work>
auto answered(Work&& work) noexcept -> std::invoke_result_t<Work> {
  using Answer = std::invoke_result_t<Work>;
  const CancellationAway cancellation;
  try {
    return work();
  } catch (const Failure& failure) {
    remember_detail(failure.what());
    return static_cast<Answer>(failure.code());
  } catch (const std::bad_alloc&) {
    remember_detail("no memory");
    return static_cast<Answer>(TIDEMARK_ERROR_NO_SPACE);
  } catch (const std::exception& unexpected) {
    remember_detail(unexpected.what());
    return static_cast<Answer>(TIDEMARK_ERROR_SYSTEM);
  }
}

// Throws where a pointer that is needed is null.
void require(const void* pointer, const char* name);

}  // namespace tidemark::client
