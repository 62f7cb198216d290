// The little of the MTIA driver that a trainer needs, with owners and exceptions.
#pragma once

#include <mtia.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace train {

// Throws std::runtime_error with the driver's own words.
void check(mtiaResult_t result, const char* what);

// What the program itself has asked the driver for, in bytes.
struct Usage {
  std::size_t now = 0;
  std::size_t peak = 0;
};
Usage& usage();

// A stretch of device memory.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::size_t bytes);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Stream {
 public:
  Stream() { check(mtiaStreamCreate(&stream_), "mtiaStreamCreate"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { mtiaStreamDestroy(stream_); }

  [[nodiscard]] mtiaStream_t handle() const { return stream_; }
  void synchronize() const { check(mtiaStreamSynchronize(stream_), "mtiaStreamSynchronize"); }

  void zero(const Tensor& tensor) const;
  void upload(const Tensor& to, std::span<const std::byte> from) const;
  void download(std::span<std::byte> to, const Tensor& from) const;

  // result = f(a, b). The driver has no kernels to run: an operation moves some of the bytes it would read to where it
  // would write, so that wrong or late data shows in the results.
  void combine(const Tensor& result, const Tensor& a, const Tensor& b) const;

 private:
  mtiaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(mtiaEventCreate(&event_), "mtiaEventCreate"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { mtiaEventDestroy(event_); }

  void record(const Stream& stream) const { check(mtiaEventRecord(event_, stream.handle()), "mtiaEventRecord"); }
  void synchronize() const { check(mtiaEventSynchronize(event_), "mtiaEventSynchronize"); }

 private:
  mtiaEvent_t event_ = nullptr;
};

}  // namespace train
