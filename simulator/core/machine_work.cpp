// What work does to memory: checked when it is submitted, done when it completes.
#include <array>
#include <cstring>
#include <utility>

#include "simulator/core/machine.hpp"

namespace sim {
namespace {

std::byte* host_bytes(Address address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

// The shape of one side of a copy or fill.
struct Machine::Rows {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t pitch = 0;
  std::uint64_t depth = 1;
  std::uint64_t slice = 0;

  // From the first byte to the last; nothing if that doesn't fit or parts overlap.
  [[nodiscard]] std::optional<std::uint64_t> span() const {
    const auto rows = span_of(width, height, pitch);
    return rows ? span_of(*rows, depth, slice) : std::nullopt;
  }

 private:
  static std::optional<std::uint64_t> span_of(std::uint64_t part, std::uint64_t count, std::uint64_t step) {
    std::uint64_t before_last = 0;
    std::uint64_t total = 0;
    if (count > 1 && step < part) return std::nullopt;
    if (count > 1 && __builtin_mul_overflow(count - 1, step, &before_last)) return std::nullopt;
    if (__builtin_add_overflow(before_last, part, &total)) return std::nullopt;
    return total;
  }
};

// ---- work: what is checked when it is submitted

Status Machine::submit(StreamId stream, Work work) {
  if (!scheduler_.has_stream(stream)) return Status::InvalidHandle;
  const bool empty = std::visit(
      [](const auto& what) {
        if constexpr (requires { what.depth; }) {
          if (what.depth == 0) return true;
        }
        if constexpr (requires { what.width; }) return what.width == 0 || what.height == 0;
        return false;
      },
      work);
  if (empty) return Status::Ok;
  // Who would reach for memory is only asked of mapped one: all else belongs to every device alike.
  const int device = virtual_memory_.is_used() ? device_of(scheduler_.context_of(stream)) : -1;
  const Status prepared = std::visit([&](auto& what) { return prepare(what, device); }, work);
  return prepared == Status::Ok ? scheduler_.submit(stream, std::move(work)) : prepared;
}

Machine::Side Machine::side_of(Address start, const Rows& rows, int device, Access access) const {
  const auto span = rows.span();
  if (start == 0 || !span) return Side::Bad;
  if (virtual_memory_.contains(start)) {
    return virtual_memory_.allows(start, *span, device, access) ? Side::Device : Side::Bad;
  }
  const DeviceMemory* memory = memory_around(start);
  if (memory == nullptr) return Side::Host;
  return memory->check(start, *span) == Status::Ok ? Side::Device : Side::Bad;
}

Status Machine::prepare(Copy& copy, int device) const {
  const Rows to_rows{copy.width, copy.height, copy.to_pitch, copy.depth, copy.to_slice};
  const Rows from_rows{copy.width, copy.height, copy.from_pitch, copy.depth, copy.from_slice};
  const Side to = side_of(copy.to, to_rows, device, Access::ReadWrite);
  const Side from = side_of(copy.from, from_rows, device, Access::Read);
  if (to == Side::Bad || from == Side::Bad) return Status::InvalidValue;
  if (from == Side::Host && copy.host_source == HostSource::Staged) {
    copy.staged.resize(copy.width * copy.height * copy.depth);
    std::byte* staged = copy.staged.data();
    for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
      for (std::uint64_t row = 0; row < copy.height; ++row, staged += copy.width) {
        std::memcpy(staged, host_bytes(copy.from + slice * copy.from_slice + row * copy.from_pitch), copy.width);
      }
    }
  }
  return Status::Ok;
}

Status Machine::prepare(Fill& fill, int device) const {
  const bool sane = fill.element == 1 || fill.element == 2 || fill.element == 4 || fill.element == 8;
  if (!sane || fill.width % fill.element != 0) return Status::InvalidValue;
  const Side side = side_of(fill.to, {fill.width, fill.height, fill.pitch}, device, Access::ReadWrite);
  return side == (fill.on_host ? Side::Host : Side::Device) ? Status::Ok : Status::InvalidValue;
}

Status Machine::prepare(const HostFunction& host, int) {
  return host.function != nullptr ? Status::Ok : Status::InvalidValue;
}

// ---- work: what is done when it completes; the scheduler's mutex is held

bool Machine::run(Work& work) const {
  if (const auto* copy = std::get_if<Copy>(&work)) return run(*copy);
  if (const auto* fill = std::get_if<Fill>(&work)) return run(*fill);
  return true;
}

bool Machine::run(const Copy& copy) const {
  const std::byte* staged = copy.staged.data();
  for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
    for (std::uint64_t row = 0; row < copy.height; ++row, staged += copy.width) {
      const Address from = copy.staged.empty() ? copy.from + slice * copy.from_slice + row * copy.from_pitch
                                               : reinterpret_cast<Address>(staged);
      if (!copy_row(copy.to + slice * copy.to_slice + row * copy.to_pitch, from, copy.width)) return false;
    }
  }
  return true;
}

bool Machine::to_bytes(Address& address, std::uint64_t size) const {
  if (!virtual_memory_.contains_held(address)) return true;
  std::byte* const bytes = virtual_memory_.bytes_at(address, size);
  address = reinterpret_cast<Address>(bytes);
  return bytes != nullptr;
}

bool Machine::copy_row(Address to, Address from, std::uint64_t size) const {
  std::unique_lock<std::mutex> nothing_goes;
  if (virtual_memory_.is_used()) {
    nothing_goes = virtual_memory_.hold();
    if (!to_bytes(to, size) || !to_bytes(from, size)) return false;
  }
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
    if (!fill_row(fill.to + row * fill.pitch, used, fill.width, fill.on_host)) return false;
  }
  return true;
}

bool Machine::fill_row(Address to, std::span<const std::byte> pattern, std::uint64_t size, bool on_host) const {
  std::unique_lock<std::mutex> nothing_goes;
  bool is_mapped = false;
  if (virtual_memory_.is_used()) {
    nothing_goes = virtual_memory_.hold();
    is_mapped = virtual_memory_.contains_held(to);
    if (!to_bytes(to, size)) return false;
  }
  if (is_mapped || on_host) {
    for (std::uint64_t at = 0; at < size; at += pattern.size()) {
      std::memcpy(host_bytes(to + at), pattern.data(), pattern.size());
    }
    return true;
  }
  DeviceMemory* device = memory_around(to);
  return device != nullptr && device->fill(to, pattern, size) == Status::Ok;
}

}  // namespace sim
