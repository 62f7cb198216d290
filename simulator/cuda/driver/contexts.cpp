#include "simulator/cuda/driver/contexts.hpp"

#include <algorithm>

namespace cuda_sim {
namespace {

struct Stack {
  Context* contexts[ContextStack::kDeepest];
  int depth;
};

constinit thread_local Stack stack{};

}  // namespace

Contexts::Contexts(sim::Machine& machine, const std::vector<int>& devices) : machine_(machine), devices_(devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    primaries_.push_back({std::make_unique<Context>(static_cast<int>(i), true), 0});
  }
}

void Contexts::begin(Context& context) {
  context.faulted = false;
  context.id = ++last_id_;
  context.core = machine_.create_context(devices_[static_cast<std::size_t>(context.device)]);
}

Context& Contexts::create(int device, unsigned flags) {
  std::lock_guard lock{mutex_};
  created_.push_back(std::make_unique<Context>(device, false));
  Context& context = *created_.back();
  context.flags = flags;
  begin(context);
  return context;
}

GreenContext* Contexts::create_green(int device, unsigned multiprocessors) {
  Context& whole = retain(device);
  std::unique_lock lock{mutex_};
  auto made = std::make_unique<GreenContext>(whole, multiprocessors);
  made->context.core = machine_.create_part(whole.core);
  if (!made->context.is_alive()) {
    lock.unlock();
    (void)release(device);
    return nullptr;
  }
  made->context.id = ++last_id_;
  green_.push_back(std::move(made));
  return green_.back().get();
}

GreenContext* Contexts::find_green(CUgreenCtx handle) const {
  std::lock_guard lock{mutex_};
  const auto found =
      std::find_if(green_.begin(), green_.end(), [handle](const auto& g) { return g->handle() == handle; });
  return found != green_.end() ? found->get() : nullptr;
}

GreenContext* Contexts::green_of(const Context& context) const {
  std::lock_guard lock{mutex_};
  const auto found = std::find_if(green_.begin(), green_.end(), [&](const auto& g) { return &g->context == &context; });
  return found != green_.end() ? found->get() : nullptr;
}

std::vector<Context*> Contexts::parts_of(const Context& primary) const {
  std::lock_guard lock{mutex_};
  std::vector<Context*> parts;
  for (const auto& green : green_) {
    if (green->context.whole == &primary && green->context.is_alive()) {
      parts.push_back(&green->context);
    }
  }
  return parts;
}

bool Contexts::end(Context& context) {
  const sim::ContextId core = context.core.exchange(sim::ContextId{});
  if (core == sim::ContextId{}) {
    return false;
  }
  machine_.destroy_context(core);
  std::lock_guard lock{mutex_};
  std::erase_if(peers_, [&](const auto& pair) { return pair.first == &context || pair.second == &context; });
  return true;
}

Context* Contexts::find(CUcontext handle) const {
  std::lock_guard lock{mutex_};
  for (const Primary& primary : primaries_) {
    if (primary.context->handle() == handle) {
      return primary.context.get();
    }
  }
  const auto found = std::find_if(created_.begin(), created_.end(),
                                  [handle](const auto& context) { return context->handle() == handle; });
  if (found != created_.end()) {
    return found->get();
  }
  const auto green = std::find_if(green_.begin(), green_.end(),
                                  [handle](const auto& each) { return each->context.handle() == handle; });
  return green != green_.end() ? &(*green)->context : nullptr;
}

Context* Contexts::owner_of(sim::ContextId core) const {
  if (core == sim::ContextId{}) {
    return nullptr;  // of memory that belongs to no context; contexts without a life have no other number
  }
  std::lock_guard lock{mutex_};
  for (const Primary& primary : primaries_) {
    if (primary.context->core == core) {
      return primary.context.get();
    }
  }
  const auto found =
      std::find_if(created_.begin(), created_.end(), [core](const auto& context) { return context->core == core; });
  return found != created_.end() ? found->get() : nullptr;
}

Context& Contexts::retain(int device) {
  std::lock_guard lock{mutex_};
  Primary& primary = primaries_[static_cast<std::size_t>(device)];
  if (!primary.context->is_alive()) {
    begin(*primary.context);
  }
  ++primary.holds;
  return *primary.context;
}

Contexts::Released Contexts::release(int device) {
  std::lock_guard lock{mutex_};
  Primary& primary = primaries_[static_cast<std::size_t>(device)];
  if (primary.holds == 0) {
    return Released::NotHeld;
  }
  return --primary.holds > 0 ? Released::StillHeld : Released::Last;
}

bool Contexts::enable_peer(const Context& from, const Context& to) {
  std::lock_guard lock{mutex_};
  return peers_.emplace(&from, &to).second;
}

bool Contexts::disable_peer(const Context& from, const Context& to) {
  std::lock_guard lock{mutex_};
  return peers_.erase({&from, &to}) == 1;
}

Context* ContextStack::top() { return stack.depth > 0 ? stack.contexts[stack.depth - 1] : nullptr; }

bool ContextStack::push(Context& context) {
  if (stack.depth == kDeepest) {
    return false;
  }
  stack.contexts[stack.depth++] = &context;
  return true;
}

Context* ContextStack::pop() { return stack.depth > 0 ? stack.contexts[--stack.depth] : nullptr; }

bool ContextStack::replace_top(Context* context) {
  pop();
  return !context || push(*context);
}

}  // namespace cuda_sim
