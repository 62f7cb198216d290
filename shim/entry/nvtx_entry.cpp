// Where a program's NVTX finds us, if NVTX_INJECTION64_PATH says so: functions for its ranges, each one statement.
// What else NVTX can do (markers, categories, names of threads and streams) stays as it is without a tool.
#include <array>

#include "shim/entry/export.hpp"
#include "shim/hook/kept_errno.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/nvtx/injection.hpp"
#include "shim/runtime/nvtx_ranges.hpp"

namespace tidemark::entry {
namespace {

using nvtx::DomainHandle;
using nvtx::EventAttributes;
using nvtx::MessageText;
using nvtx::RangeId;
using nvtx::StringHandle;
using runtime::nvtx_ranges;

// Inside our own work (a driver's own ranges, a signal handler that interrupted us) nothing is followed.
template <class Work, class Answer>
Answer followed(Work&& work, Answer otherwise) noexcept {
  const hook::KeptErrno kept_errno;
  const hook::ReentryGuard guard;
  if (guard.is_reentrant()) {
    return otherwise;
  }
  const hook::CancellationAway cancellation;
  return work();
}

template <class Message>
int push(DomainHandle domain, const Message& message) noexcept {
  return followed([&] { return nvtx_ranges.push(domain, message); }, nvtx::kNoTracking);
}
int pop(DomainHandle domain) noexcept {
  return followed([&] { return nvtx_ranges.pop(domain); }, nvtx::kNoTracking);
}
template <class Message>
RangeId start(DomainHandle domain, const Message& message) noexcept {
  return followed([&] { return nvtx_ranges.start(domain, message); }, RangeId{0});
}
void end(RangeId id) noexcept {
  followed([&] { return nvtx_ranges.end(id), 0; }, 0);
}

int push_ascii(const char* message) noexcept { return push(nullptr, MessageText{message}); }
int push_unicode(const wchar_t* message) noexcept { return push(nullptr, MessageText{message}); }
int push_attributes(const EventAttributes* attributes) noexcept { return push(nullptr, attributes); }
int push_in_domain(DomainHandle domain, const EventAttributes* attributes) noexcept { return push(domain, attributes); }
int pop_default() noexcept { return pop(nullptr); }

RangeId start_ascii(const char* message) noexcept { return start(nullptr, MessageText{message}); }
RangeId start_unicode(const wchar_t* message) noexcept { return start(nullptr, MessageText{message}); }
RangeId start_attributes(const EventAttributes* attributes) noexcept { return start(nullptr, attributes); }
RangeId start_in_domain(DomainHandle domain, const EventAttributes* attributes) noexcept {
  return start(domain, attributes);
}
void end_in_domain(DomainHandle, RangeId id) noexcept { end(id); }

template <class Character>
StringHandle register_string(DomainHandle, const Character* text) noexcept {
  return followed([&] { return nvtx_ranges.register_string(MessageText{text}); }, StringHandle{});
}
template <class Character>
DomainHandle create_domain(const Character* text) noexcept {
  return followed([&] { return nvtx_ranges.create_domain(MessageText{text}); }, DomainHandle{});
}
// A name of ranges stays one: other threads may still be in them.
void destroy_domain(DomainHandle) noexcept {}

template <class Signature>
nvtx::Function function(Signature* follower) noexcept {
  return reinterpret_cast<nvtx::Function>(follower);
}

int initialize(nvtx::ExportTable export_table) noexcept {
  const std::array core{nvtx::Follower{nvtx::core::kRangeStartEx, function(&start_attributes)},
                        nvtx::Follower{nvtx::core::kRangeStartA, function(&start_ascii)},
                        nvtx::Follower{nvtx::core::kRangeStartW, function(&start_unicode)},
                        nvtx::Follower{nvtx::core::kRangeEnd, function(&end)},
                        nvtx::Follower{nvtx::core::kRangePushEx, function(&push_attributes)},
                        nvtx::Follower{nvtx::core::kRangePushA, function(&push_ascii)},
                        nvtx::Follower{nvtx::core::kRangePushW, function(&push_unicode)},
                        nvtx::Follower{nvtx::core::kRangePop, function(&pop_default)}};
  const std::array core2{nvtx::Follower{nvtx::core2::kDomainRangeStartEx, function(&start_in_domain)},
                         nvtx::Follower{nvtx::core2::kDomainRangeEnd, function(&end_in_domain)},
                         nvtx::Follower{nvtx::core2::kDomainRangePushEx, function(&push_in_domain)},
                         nvtx::Follower{nvtx::core2::kDomainRangePop, function(&pop)},
                         nvtx::Follower{nvtx::core2::kDomainRegisterStringA, function(&register_string<char>)},
                         nvtx::Follower{nvtx::core2::kDomainRegisterStringW, function(&register_string<wchar_t>)},
                         nvtx::Follower{nvtx::core2::kDomainCreateA, function(&create_domain<char>)},
                         nvtx::Follower{nvtx::core2::kDomainCreateW, function(&create_domain<wchar_t>)},
                         nvtx::Follower{nvtx::core2::kDomainDestroy, function(&destroy_domain)}};
  return nvtx::follow(export_table, core, core2) ? 1 : 0;
}

}  // namespace
}  // namespace tidemark::entry

extern "C" {

TIDEMARK_EXPORT int InitializeInjectionNvtx2(tidemark::nvtx::ExportTable export_table);

int InitializeInjectionNvtx2(tidemark::nvtx::ExportTable export_table) {
  return tidemark::entry::initialize(export_table);
}

}  // extern "C"
