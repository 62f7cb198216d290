// What a tool and the NVTX inside a program say to each other. NVTX version 3 is headers alone, compiled into the
// program: at its first range it loads the library that NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2
// there, which may put functions of its own into the tables it is handed. Its headers come with a CUDA toolkit, which
// nobody should need to build us: numbers and layouts are those of NVIDIA's nvtxTypes.h and nvToolsExt.h, and
// tests/shim/nvtx_abi_test.cpp holds them to the real ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::nvtx {

// Opaque to the program: ours to give out. Null is the default domain.
using DomainHandle = const void*;
using StringHandle = const void*;
using RangeId = std::uint64_t;

enum class MessageType : std::int32_t { Unknown = 0, Ascii = 1, Unicode = 2, Registered = 3 };

union MessageValue {
  const char* ascii;
  const wchar_t* unicode;
  StringHandle registered;
};

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;  // of the structure, as the program knows it
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  MessageValue message;
};
static_assert(offsetof(EventAttributes, message_type) == 32 && offsetof(EventAttributes, message) == 40);
static_assert(sizeof(EventAttributes) == 48);

// What a push or a pop answers where nobody follows the stack: as if there was no tool.
inline constexpr int kNoTracking = -2;
// A pop with nothing to pop.
inline constexpr int kNothingOpen = -1;

// Tables of functions, and the places in them.
enum class Module : int { Core = 1, Core2 = 5 };
namespace core {
inline constexpr unsigned kRangeStartEx = 4;
inline constexpr unsigned kRangeStartA = 5;
inline constexpr unsigned kRangeStartW = 6;
inline constexpr unsigned kRangeEnd = 7;
inline constexpr unsigned kRangePushEx = 8;
inline constexpr unsigned kRangePushA = 9;
inline constexpr unsigned kRangePushW = 10;
inline constexpr unsigned kRangePop = 11;
}  // namespace core
namespace core2 {
inline constexpr unsigned kDomainRangeStartEx = 2;
inline constexpr unsigned kDomainRangeEnd = 3;
inline constexpr unsigned kDomainRangePushEx = 4;
inline constexpr unsigned kDomainRangePop = 5;
inline constexpr unsigned kDomainRegisterStringA = 10;
inline constexpr unsigned kDomainRegisterStringW = 11;
inline constexpr unsigned kDomainCreateA = 12;
inline constexpr unsigned kDomainCreateW = 13;
inline constexpr unsigned kDomainDestroy = 14;
}  // namespace core2

using Function = void (*)();
using FunctionTable = Function**;  // of places where the program looks its functions up; a place may be null

inline constexpr std::uint32_t kCallbacksTable = 1;
inline constexpr std::uint32_t kVersionTable = 3;
inline constexpr std::uint32_t kVersion = 3;

struct Callbacks {
  std::size_t struct_size;
  int (*module_functions)(Module module, FunctionTable* table, unsigned* size);  // 0: there are none
};
struct VersionInfo {
  std::size_t struct_size;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*set_injection_version)(std::uint32_t version);
};

using ExportTable = const void* (*)(std::uint32_t id);

}  // namespace tidemark::nvtx
