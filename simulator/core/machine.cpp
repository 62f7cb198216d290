#include "simulator/core/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

namespace sim {
namespace {

std::byte* host_bytes(Address address) { return reinterpret_cast<std::byte*>(address); }

DeviceIdentity identity_of(const std::string& product, int device) {
  DeviceIdentity identity{.name = product + " (simulated)"};
  const std::string text = "sim-" + product;
  std::copy_n(text.begin(), std::min<std::size_t>(text.size(), 12), identity.uuid.begin());
  identity.uuid[14] = static_cast<unsigned char>(device >> 8);
  identity.uuid[15] = static_cast<unsigned char>(device);
  return identity;
}

}  // namespace

// The shape of one side of a copy or fill.
struct Machine::Rows {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t pitch = 0;

  [[nodiscard]] bool is_empty() const { return width == 0 || height == 0; }
  // From the first byte to the last; nothing if that doesn't fit or rows overlap.
  [[nodiscard]] std::optional<std::uint64_t> span() const {
    std::uint64_t before_last = 0;
    std::uint64_t total = 0;
    if (height > 1 && pitch < width) return std::nullopt;
    if (height > 1 && __builtin_mul_overflow(height - 1, pitch, &before_last)) return std::nullopt;
    if (__builtin_add_overflow(before_last, width, &total)) return std::nullopt;
    return total;
  }
};

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
  return {};
}

void Machine::leave_shared_capacity() {
  if (shared_ != nullptr) shared_->leave();
}

// ---- work: what is checked when it is submitted

Status Machine::submit(StreamId stream, Work work) {
  if (!scheduler_.has_stream(stream)) return Status::InvalidHandle;
  const bool empty = std::visit(
      [](const auto& what) {
        if constexpr (requires { what.width; }) return what.width == 0 || what.height == 0;
        return false;
      },
      work);
  if (empty) return Status::Ok;
  const Status prepared = std::visit([this](auto& what) { return prepare(what); }, work);
  return prepared == Status::Ok ? scheduler_.submit(stream, std::move(work)) : prepared;
}

Machine::Side Machine::side_of(Address start, const Rows& rows) const {
  const auto span = rows.span();
  if (start == 0 || !span) return Side::Bad;
  const DeviceMemory* device = memory_around(start);
  if (device == nullptr) return Side::Host;
  return device->check(start, *span) == Status::Ok ? Side::Device : Side::Bad;
}

Status Machine::prepare(Copy& copy) const {
  const Side to = side_of(copy.to, {copy.width, copy.height, copy.to_pitch});
  const Side from = side_of(copy.from, {copy.width, copy.height, copy.from_pitch});
  if (to == Side::Bad || from == Side::Bad) return Status::InvalidValue;
  if (from == Side::Host && copy.host_source == HostSource::Staged) {
    copy.staged.resize(copy.width * copy.height);
    for (std::uint64_t row = 0; row < copy.height; ++row) {
      const std::byte* source = host_bytes(copy.from + row * copy.from_pitch);
      std::memcpy(copy.staged.data() + row * copy.width, source, copy.width);
    }
  }
  return Status::Ok;
}

Status Machine::prepare(Fill& fill) const {
  const bool sane = fill.element == 1 || fill.element == 2 || fill.element == 4 || fill.element == 8;
  if (!sane || fill.width % fill.element != 0) return Status::InvalidValue;
  return side_of(fill.to, {fill.width, fill.height, fill.pitch}) == Side::Device ? Status::Ok : Status::InvalidValue;
}

Status Machine::prepare(const HostFunction& host) {
  return host.function != nullptr ? Status::Ok : Status::InvalidValue;
}

// ---- work: what is done when it completes; the scheduler's mutex is held

bool Machine::run(Work& work) const {
  if (const auto* copy = std::get_if<Copy>(&work)) return run(*copy);
  if (const auto* fill = std::get_if<Fill>(&work)) return run(*fill);
  return true;
}

bool Machine::run(const Copy& copy) const {
  for (std::uint64_t row = 0; row < copy.height; ++row) {
    const Address from = copy.staged.empty() ? copy.from + row * copy.from_pitch
                                             : reinterpret_cast<Address>(copy.staged.data() + row * copy.width);
    if (!copy_row(copy.to + row * copy.to_pitch, from, copy.width)) return false;
  }
  return true;
}

bool Machine::copy_row(Address to, Address from, std::uint64_t size) const {
  DeviceMemory* to_device = memory_around(to);
  DeviceMemory* from_device = memory_around(from);
  if (to_device != nullptr && from_device != nullptr) {
    return DeviceMemory::copy(*to_device, to, *from_device, from, size) == Status::Ok;
  }
  if (to_device != nullptr) return to_device->write(to, {host_bytes(from), size}) == Status::Ok;
  if (from_device != nullptr) return from_device->read(from, {host_bytes(to), size}) == Status::Ok;
  std::memmove(host_bytes(to), host_bytes(from), size);
  return true;
}

bool Machine::run(const Fill& fill) const {
  std::array<std::byte, sizeof(fill.value)> pattern{};
  std::memcpy(pattern.data(), &fill.value, sizeof(fill.value));
  const std::span used{pattern.data(), fill.element};
  for (std::uint64_t row = 0; row < fill.height; ++row) {
    const Address to = fill.to + row * fill.pitch;
    DeviceMemory* device = memory_around(to);
    if (device == nullptr || device->fill(to, used, fill.width) != Status::Ok) return false;
  }
  return true;
}

}  // namespace sim
