#include "simulator/core/machine.hpp"

#include <algorithm>
#include <cstdio>

#include "simulator/core/device_identity.hpp"

namespace sim {

Machine::Machine(const MachineOptions& options) : scheduler_(options.clock, [this](Work& work) { return run(work); }) {
  if (!options.shared_file.empty()) {
    std::string why;
    shared_ = SharedCapacity::join(options.shared_file, why);
    if (shared_ == nullptr) std::fprintf(stderr, "simulator: capacity is not shared: %s\n", why.c_str());
  }
  for (int device = 0; device < options.devices; ++device) {
    identities_.push_back(identity_of(options.product, device));
    memories_.push_back(
        std::make_unique<DeviceMemory>(options.memory_bytes, shared_.get(), device, options.exportable));
  }
}

Machine::~Machine() = default;

// ---- contexts

ContextId Machine::create_context(int device) {
  const ContextId context = scheduler_.create_context();
  const std::lock_guard lock{contexts_mutex_};
  contexts_.emplace(context, Owner{device, context});
  return context;
}

ContextId Machine::create_part(ContextId whole) {
  const ContextId part = scheduler_.create_context(whole);
  {
    const std::lock_guard lock{contexts_mutex_};
    if (const auto found = contexts_.find(whole); found != contexts_.end()) {
      contexts_.emplace(part, Owner{found->second.device, whole});
      return part;
    }
  }
  scheduler_.destroy_context(part);
  return ContextId{};
}

Status Machine::destroy_context(ContextId context) {
  int device = -1;
  {
    const std::lock_guard lock{contexts_mutex_};
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) return Status::InvalidHandle;
    device = found->second.device;
    contexts_.erase(found);
    std::erase_if(contexts_, [context](const auto& entry) { return entry.second.memory == context; });
  }
  const Status status = scheduler_.destroy_context(context);
  memory(device).release_all_of(context);
  return status;
}

int Machine::device_of(ContextId context) const {
  const std::lock_guard lock{contexts_mutex_};
  const auto found = contexts_.find(context);
  return found != contexts_.end() ? found->second.device : -1;
}

Status Machine::synchronize_device(int device) {
  if (scheduler_.is_idle()) return Status::Ok;
  std::vector<ContextId> contexts;
  {
    const std::lock_guard lock{contexts_mutex_};
    for (const auto& [context, owner] : contexts_) {
      if (owner.device == device) contexts.push_back(context);
    }
  }
  Status first = Status::Ok;
  for (const ContextId context : contexts) {
    const Status status = scheduler_.synchronize_context(context);
    // One that was destroyed meanwhile has no work left.
    if (first == Status::Ok && status != Status::InvalidHandle) first = status;
  }
  return first;
}

// ---- memory

Status Machine::allocate(ContextId context, std::uint64_t size, Address& out) {
  if (size == 0) return Status::InvalidValue;
  // Held over the allocation: a context that is destroyed meanwhile frees this one, too.
  const std::lock_guard lock{contexts_mutex_};
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return Status::InvalidHandle;
  return memory(found->second.device).allocate(found->second.memory, size, out);
}

Status Machine::release(Address base) {
  DeviceMemory* owner = memory_around(base);
  if (owner == nullptr) return Status::InvalidValue;
  bool used_by_work = false;
  if (!scheduler_.is_idle()) {
    const auto allocation = owner->find(base);
    used_by_work = allocation && scheduler_.uses(allocation->base, allocation->size);
  }
  return owner->release(base, used_by_work);
}

DeviceMemory* Machine::memory_around(Address address) const {
  const auto found = std::find_if(memories_.begin(), memories_.end(),
                                  [address](const auto& memory) { return memory->contains(address); });
  return found != memories_.end() ? found->get() : nullptr;
}

Place Machine::place(Address address) const {
  for (std::size_t device = 0; device < memories_.size(); ++device) {
    if (!memories_[device]->contains(address)) continue;
    const auto allocation = memories_[device]->find(address);
    return {.device = static_cast<int>(device),
            .live = allocation.has_value(),
            .allocation = allocation.value_or(Allocation{})};
  }
  const auto mapping = virtual_memory_.find(address);
  if (!mapping) return {.is_virtual = virtual_memory_.contains(address)};
  return {.device = mapping->device,
          .live = true,
          .is_virtual = true,
          .allocation = {.base = mapping->base, .size = mapping->size, .serial = mapping->serial, .foreign = true}};
}

void Machine::leave_shared_capacity() {
  if (shared_ != nullptr) shared_->leave();
}

}  // namespace sim
