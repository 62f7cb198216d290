#include "client/library/device_word.hpp"

#include <charconv>
#include <string_view>

#include "client/library/failure.hpp"

namespace tidemark::client {
namespace {

std::optional<std::uint32_t> read_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional{number}
                                                                                   : std::nullopt;
}

[[noreturn]] void refuse(std::string_view device) {
  throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                "device " + quoted(device) + "; allowed: cuda:N, mtia:N, cuda, mtia, N, NULL for the current one");
}

}  // namespace

DeviceWord read_device(const char* device) {
  if (device == nullptr) {
    return {};
  }
  const std::string_view text{device};
  if (text == "all") {
    return {.all = true};
  }
  if (const auto number = read_number(text)) {
    return {.ordinal = number};
  }
  for (const Backend backend : {Backend::Cuda, Backend::Mtia}) {
    const std::string_view name = segment::to_text(backend);
    if (text == name) {
      return {.backend = backend};
    }
    if (text.starts_with(name) && text.size() > name.size() && text[name.size()] == ':') {
      if (const auto number = read_number(text.substr(name.size() + 1))) {
        return {.backend = backend, .ordinal = number};
      }
    }
  }
  refuse(text);
}

DeviceWord read_one_device(const char* device) {
  const DeviceWord word = read_device(device);
  if (word.all) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                  "device 'all'; this function is about one device: cuda:N, mtia:N, N");
  }
  return word;
}

Backend read_backend(const char* backend) {
  require(backend, "backend");
  for (const Backend known : {Backend::Cuda, Backend::Mtia}) {
    if (std::string_view{backend} == segment::to_text(known)) {
      return known;
    }
  }
  throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, "backend " + quoted(backend) + "; allowed: cuda, mtia");
}

std::string to_text(const DeviceName& device) {
  return std::string{segment::to_text(device.backend)} + ":" + std::to_string(device.ordinal);
}

}  // namespace tidemark::client
