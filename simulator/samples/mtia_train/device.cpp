#include "simulator/samples/mtia_train/device.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace train {
namespace {

constexpr std::size_t kMoved = std::size_t{64} << 10;

}  // namespace

void check(mtiaResult_t result, const char* what) {
  if (result == MTIA_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + mtiaGetErrorString(result));
}

Usage& usage() {
  static Usage usage;
  return usage;
}

Tensor::Tensor(std::size_t bytes) : bytes_(bytes) {
  check(mtiaMalloc(&data_, bytes), ("cannot allocate " + std::to_string(bytes) + " bytes").c_str());
  usage().now += bytes;
  usage().peak = std::max(usage().peak, usage().now);
}

Tensor::Tensor(Tensor&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Tensor::~Tensor() {
  if (data_ == nullptr) return;
  mtiaFree(data_);
  usage().now -= bytes_;
}

void Stream::zero(const Tensor& tensor) const {
  check(mtiaMemsetAsync(tensor.data(), 0, std::min(tensor.bytes(), kMoved), stream_), "mtiaMemsetAsync");
}

void Stream::upload(const Tensor& to, std::span<const std::byte> from) const {
  const std::size_t count = std::min(to.bytes(), from.size());
  check(mtiaMemcpyAsync(to.data(), from.data(), count, mtiaMemcpyHostToDevice, stream_), "mtiaMemcpyAsync");
}

void Stream::download(std::span<std::byte> to, const Tensor& from) const {
  const std::size_t count = std::min(to.size(), from.bytes());
  check(mtiaMemcpyAsync(to.data(), from.data(), count, mtiaMemcpyDeviceToHost, stream_), "mtiaMemcpyAsync");
}

void Stream::combine(const Tensor& result, const Tensor& a, const Tensor& b) const {
  const std::size_t half = std::min({result.bytes() / 2, a.bytes(), b.bytes(), kMoved});
  check(mtiaMemcpyAsync(result.data(), a.data(), half, mtiaMemcpyDeviceToDevice, stream_), "mtiaMemcpyAsync");
  check(mtiaMemcpyAsync(result.data() + half, b.data(), half, mtiaMemcpyDeviceToDevice, stream_), "mtiaMemcpyAsync");
  // What is read later must not depend on what the memory held before.
  const std::size_t written = 2 * half;
  const std::size_t read = std::min(result.bytes(), kMoved);
  if (written < read) check(mtiaMemsetAsync(result.data() + written, 0, read - written, stream_), "mtiaMemsetAsync");
}

}  // namespace train
