// What a call of ours answers: the code that the program gets, or that it isn't ours and the driver shall answer.
//
// One word: an optional of a code is written in two parts and read as one, for which a processor waits until both are
// in memory, on each hit (measured: a twelfth of a pair).
#pragma once

#include <limits>
#include <optional>

namespace tidemark::runtime {

template <class Code>
class Answer {
 public:
  Answer(Code code) noexcept : code_(static_cast<int>(code)) {}  // NOLINT(google-explicit-constructor): as optional
  Answer(std::nullopt_t) noexcept {}                             // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_ours() const noexcept { return code_ != kNotOurs; }
  // Requires: is_ours().
  [[nodiscard]] Code code() const noexcept { return static_cast<Code>(code_); }

 private:
  static constexpr int kNotOurs = std::numeric_limits<int>::min();  // no driver's code is negative

  int code_ = kNotOurs;
};

}  // namespace tidemark::runtime
