// Our own declarations of NVTX's tables and structures beside NVIDIA's headers.
#include "shim/nvtx/nvtx_abi.hpp"

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <type_traits>

namespace tidemark::nvtx {
namespace {

static_assert(sizeof(EventAttributes) == sizeof(nvtxEventAttributes_t));
#define SAME_PLACE(ours, theirs)                                                             \
  static_assert(offsetof(EventAttributes, ours) == offsetof(nvtxEventAttributes_t, theirs)); \
  static_assert(sizeof(EventAttributes::ours) == sizeof(nvtxEventAttributes_t::theirs))
SAME_PLACE(version, version);
SAME_PLACE(size, size);
SAME_PLACE(category, category);
SAME_PLACE(message_type, messageType);
SAME_PLACE(message, message);
#undef SAME_PLACE

static_assert(static_cast<int>(MessageType::Unknown) == NVTX_MESSAGE_UNKNOWN);
static_assert(static_cast<int>(MessageType::Ascii) == NVTX_MESSAGE_TYPE_ASCII);
static_assert(static_cast<int>(MessageType::Unicode) == NVTX_MESSAGE_TYPE_UNICODE);
static_assert(static_cast<int>(MessageType::Registered) == NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(kNoTracking == NVTX_NO_PUSH_POP_TRACKING && kVersion == NVTX_VERSION);
static_assert(std::is_same_v<RangeId, nvtxRangeId_t>);

static_assert(static_cast<int>(Module::Core) == NVTX_CB_MODULE_CORE);
static_assert(static_cast<int>(Module::Core2) == NVTX_CB_MODULE_CORE2);
static_assert(core::kRangeStartEx == NVTX_CBID_CORE_RangeStartEx && core::kRangeStartA == NVTX_CBID_CORE_RangeStartA);
static_assert(core::kRangeStartW == NVTX_CBID_CORE_RangeStartW && core::kRangeEnd == NVTX_CBID_CORE_RangeEnd);
static_assert(core::kRangePushEx == NVTX_CBID_CORE_RangePushEx && core::kRangePushA == NVTX_CBID_CORE_RangePushA);
static_assert(core::kRangePushW == NVTX_CBID_CORE_RangePushW && core::kRangePop == NVTX_CBID_CORE_RangePop);
static_assert(core2::kDomainRangeStartEx == NVTX_CBID_CORE2_DomainRangeStartEx);
static_assert(core2::kDomainRangeEnd == NVTX_CBID_CORE2_DomainRangeEnd);
static_assert(core2::kDomainRangePushEx == NVTX_CBID_CORE2_DomainRangePushEx);
static_assert(core2::kDomainRangePop == NVTX_CBID_CORE2_DomainRangePop);
static_assert(core2::kDomainRegisterStringA == NVTX_CBID_CORE2_DomainRegisterStringA);
static_assert(core2::kDomainRegisterStringW == NVTX_CBID_CORE2_DomainRegisterStringW);
static_assert(core2::kDomainCreateA == NVTX_CBID_CORE2_DomainCreateA);
static_assert(core2::kDomainCreateW == NVTX_CBID_CORE2_DomainCreateW);
static_assert(core2::kDomainDestroy == NVTX_CBID_CORE2_DomainDestroy);

static_assert(kCallbacksTable == NVTX_ETID_CALLBACKS && kVersionTable == NVTX_ETID_VERSIONINFO);
static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(Callbacks, module_functions) == offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(sizeof(VersionInfo) == sizeof(NvtxExportTableVersionInfo));
static_assert(offsetof(VersionInfo, set_injection_version) ==
              offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));

TEST(NvtxAbi, ReadsAMessageWhereNvidiasHeaderPutsIt) {
  nvtxEventAttributes_t theirs{};
  theirs.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  theirs.messageType = NVTX_MESSAGE_TYPE_ASCII;
  theirs.message.ascii = "here";

  const auto* const ours = reinterpret_cast<const EventAttributes*>(&theirs);

  EXPECT_EQ(ours->size, sizeof(EventAttributes));
  EXPECT_STREQ(ours->message.ascii, "here");
}

}  // namespace
}  // namespace tidemark::nvtx
