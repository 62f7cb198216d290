// What a program calls a range, as a text of ours: UTF-8, of bounded length. Reads no further than the message's end.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "shim/nvtx/nvtx_abi.hpp"

namespace tidemark::nvtx {

class MessageText {
 public:
  // Null and empty messages have a name as well: "(no name)".
  explicit MessageText(const char* ascii) noexcept;
  explicit MessageText(const wchar_t* unicode) noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }

  // Without what PyTorch's emit_nvtx puts behind an operation's name (", seq = 12, op_id = 7, sizes = [..]"): one
  // operation is one name.
  [[nodiscard]] std::string_view operation() const noexcept;

 private:
  // Longer than what is kept, so that an addition that begins before the end is seen whole.
  static constexpr std::size_t kMostBytes = 144;

  std::array<char, kMostBytes> bytes_;
  std::size_t size_ = 0;
};

// Calls use(message) with what the attributes name it: a registered string's handle, or a MessageText. Null attributes,
// structures that end before the message and unknown types have no name.
template <class UseText, class UseHandle>
auto with_message(const EventAttributes* attributes, UseText&& use_text, UseHandle&& use_handle) noexcept {
  const bool has_message = attributes != nullptr && attributes->size >= sizeof(EventAttributes);
  switch (has_message ? static_cast<MessageType>(attributes->message_type) : MessageType::Unknown) {
    case MessageType::Ascii:
      return use_text(MessageText{attributes->message.ascii});
    case MessageType::Unicode:
      return use_text(MessageText{attributes->message.unicode});
    case MessageType::Registered:
      return use_handle(attributes->message.registered);
    case MessageType::Unknown:
      break;
  }
  return use_text(MessageText{static_cast<const char*>(nullptr)});
}

}  // namespace tidemark::nvtx
