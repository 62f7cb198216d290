// A value or an error; nothing throws between rooms of the shim.
#pragma once

#include <optional>
#include <utility>

namespace tidemark {

enum class ErrorCode {
  OutOfMemory,       // the device has not that much left
  InvalidValue,      // a pointer or size that the driver would refuse: double, interior or foreign free
  NotOurs,           // not our pointer: the call is to be forwarded untouched
  NotInitialized,    // no driver, no context, or a forked child
  Unsupported,       // this backend, platform or layout version cannot
  DriverFailure,     // any other code of the driver, in `native`
  NotFound,          // no such file, process or device
  PermissionDenied,  // the operating system refused
  NoSpace,           // file system full or limit reached
  BadFormat,         // bytes that are not what they should be
  WrongVersion,      // a layout of another major version
  Timeout,           // the other side did not answer in time
  System,            // any other failed system call, errno in `native`
  Busy,              // not now, nothing was done: a stream capture is open
  Refused,           // not from here, nothing was done: the driver takes no call inside a host function of a stream
};

struct Error {
  ErrorCode code = ErrorCode::System;
  int native = 0;  // the driver's own code, or errno; 0 where there is none
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): `return value;` is the point
  Result(Error error) : error_(error) {}         // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  // Requires: ok().
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return std::move(*value_); }
  // Requires: !ok().
  [[nodiscard]] Error error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_{};
};

// Success, or the error. Two words that travel in one register: an optional error costs a stall in every hot call that
// returns it.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : failure_(static_cast<int>(error.code) + 1), native_(error.native) {}

  [[nodiscard]] bool ok() const { return failure_ == 0; }
  explicit operator bool() const { return ok(); }
  // Requires: !ok().
  [[nodiscard]] Error error() const { return {static_cast<ErrorCode>(failure_ - 1), native_}; }

 private:
  int failure_ = 0;  // the code plus one
  int native_ = 0;
};

using Status = Result<void>;

}  // namespace tidemark
