#include "shim/nvtx/ranges.hpp"

namespace tidemark::nvtx {
namespace {

// What is given out when there are too many domains.
constexpr char kOtherDomains = 0;

}  // namespace

DomainHandle Ranges::create_domain(const MessageText& text) noexcept {
  const PooledText* const domain = domains_.keep(text.view());
  return domain != nullptr ? static_cast<DomainHandle>(domain) : &kOtherDomains;
}

StringHandle Ranges::register_string(const MessageText& text) noexcept {
  const PooledText* const message = kept(text);
  return message != nullptr ? static_cast<StringHandle>(message) : &kOtherDomains;
}

int Ranges::pop(DomainHandle domain) noexcept {
  const auto popped = stacks_.pop(place_of(domain).number, measure_);
  if (!popped) {
    return kNothingOpen;
  }
  if (popped->range) {
    measure_.end(*popped->range);
  }
  return popped->level;
}

void Ranges::end(RangeId id) noexcept {
  if (const auto range = started_.end(id)) {
    measure_.end(*range);
  }
}

Ranges::Place Ranges::place_of(DomainHandle domain) const noexcept {
  if (domain == nullptr) {
    return {};
  }
  const PooledText* const text = domains_.find(domain);
  return text != nullptr ? Place{.number = domains_.number_of(*text) + 1, .domain = text}
                         : Place{.number = kOtherDomain};
}

const PooledText* Ranges::kept(const EventAttributes* attributes) noexcept {
  return with_message(
      attributes, [this](const MessageText& text) { return kept(text); },
      [this](StringHandle handle) { return messages_.find(handle); });
}

// Where no more can be measured at once, maybe some belong to threads that are gone.
Mark Ranges::begin_mark() noexcept {
  const Mark mark = measure_.begin();
  return mark == kNoRoom && stacks_.reclaim(measure_) ? measure_.begin() : mark;
}

}  // namespace tidemark::nvtx
