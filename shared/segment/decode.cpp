#include "shared/segment/decode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace tidemark::segment {
namespace {

std::string hex_of(std::span<const std::uint64_t> words) {
  std::string text;
  for (const std::uint64_t word : words) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += "0123456789abcdef"[(word >> shift) & 0xF];
    }
  }
  return text;
}

// Zero is "unknown" in the file.
std::int64_t rank_of(std::uint64_t word) {
  return word == 0 || word > INT32_MAX ? -1 : static_cast<std::int64_t>(word) - 1;
}

std::int64_t pid_of(std::uint64_t word) { return word > INT32_MAX ? 0 : static_cast<std::int64_t>(word); }

Backend backend_of(std::uint64_t word) {
  return word == static_cast<std::uint64_t>(Backend::Cuda) || word == static_cast<std::uint64_t>(Backend::Mtia)
             ? static_cast<Backend>(word)
             : Backend::Unknown;
}

// An enumerator we don't know keeps its number: to_text says "?".
template <class Enum>
Enum enum_of(std::uint64_t word) {
  return static_cast<Enum>(static_cast<std::uint32_t>(std::min<std::uint64_t>(word, UINT32_MAX)));
}

}  // namespace

#define TIDEMARK_WORD(image, Record, field) (image).word(offsetof(Record, field))
#define TIDEMARK_TEXT(image, Record, field) \
  (image).text(offsetof(Record, field), sizeof(Record::field) / sizeof(std::uint64_t))

void decode_identity(ProcessIdentity& identity, const RecordImage<IdentityRecord>& image) {
  identity.pid = pid_of(TIDEMARK_WORD(image, IdentityRecord, pid));
  identity.parent_pid = pid_of(TIDEMARK_WORD(image, IdentityRecord, parent_pid));
  identity.start_ticks = TIDEMARK_WORD(image, IdentityRecord, start_ticks);
  identity.ticks_per_second = TIDEMARK_WORD(image, IdentityRecord, ticks_per_second);
  identity.pid_namespace = TIDEMARK_WORD(image, IdentityRecord, pid_namespace);
  identity.user_namespace = TIDEMARK_WORD(image, IdentityRecord, user_namespace);
  identity.uid = TIDEMARK_WORD(image, IdentityRecord, uid);
  identity.gid = TIDEMARK_WORD(image, IdentityRecord, gid);
  identity.create_realtime_ns = TIDEMARK_WORD(image, IdentityRecord, create_realtime_ns);
  identity.create_monotonic_ns = TIDEMARK_WORD(image, IdentityRecord, create_monotonic_ns);
  identity.create_boottime_ns = TIDEMARK_WORD(image, IdentityRecord, create_boottime_ns);
  identity.boot_id = hex_of(image.words(offsetof(IdentityRecord, boot_id), 2));
  identity.rank = {.global = rank_of(TIDEMARK_WORD(image, IdentityRecord, rank_global)),
                   .local = rank_of(TIDEMARK_WORD(image, IdentityRecord, rank_local)),
                   .world = rank_of(TIDEMARK_WORD(image, IdentityRecord, rank_world))};
  identity.comm = TIDEMARK_TEXT(image, IdentityRecord, comm);
  identity.executable = TIDEMARK_TEXT(image, IdentityRecord, executable);
  identity.command = TIDEMARK_TEXT(image, IdentityRecord, command);
  identity.label = TIDEMARK_TEXT(image, IdentityRecord, label);
  identity.shim_version = TIDEMARK_TEXT(image, IdentityRecord, shim_version);
}

ProcessGlobals decode_globals(const RecordImage<GlobalRecord>& image) {
  ProcessGlobals globals;
  globals.heartbeat_count = TIDEMARK_WORD(image, GlobalRecord, heartbeat_count);
  globals.heartbeat_realtime_ns = TIDEMARK_WORD(image, GlobalRecord, heartbeat_realtime_ns);
  globals.heartbeat_boottime_ns = TIDEMARK_WORD(image, GlobalRecord, heartbeat_boottime_ns);
  globals.mode = enum_of<ProcessMode>(TIDEMARK_WORD(image, GlobalRecord, mode));
  globals.mode_realtime_ns = TIDEMARK_WORD(image, GlobalRecord, mode_realtime_ns);
  globals.mode_reason = TIDEMARK_TEXT(image, GlobalRecord, mode_reason);
  globals.layer = enum_of<Layer>(TIDEMARK_WORD(image, GlobalRecord, layer));
  globals.flags = TIDEMARK_WORD(image, GlobalRecord, flags);
  globals.control_policy = enum_of<ControlPolicy>(TIDEMARK_WORD(image, GlobalRecord, control_policy));
  globals.inner_pool = enum_of<InnerPool>(TIDEMARK_WORD(image, GlobalRecord, inner_pool));
  globals.hooks = {.hook_calls = TIDEMARK_WORD(image, GlobalRecord, hook_calls),
                   .forwarded_calls = TIDEMARK_WORD(image, GlobalRecord, forwarded_calls),
                   .lookups = TIDEMARK_WORD(image, GlobalRecord, lookups),
                   .resolver_lookups = TIDEMARK_WORD(image, GlobalRecord, resolver_lookups),
                   .swapped_lookups = TIDEMARK_WORD(image, GlobalRecord, swapped_lookups),
                   .foreign_frees = TIDEMARK_WORD(image, GlobalRecord, foreign_frees)};
  globals.errors = TIDEMARK_WORD(image, GlobalRecord, errors);
  globals.last_error_code = TIDEMARK_WORD(image, GlobalRecord, last_error_code);
  globals.last_error_native = TIDEMARK_WORD(image, GlobalRecord, last_error_native);
  globals.requests_done = TIDEMARK_WORD(image, GlobalRecord, requests_done);
  globals.requests_refused = TIDEMARK_WORD(image, GlobalRecord, requests_refused);
  globals.requests_ignored = TIDEMARK_WORD(image, GlobalRecord, requests_ignored);
  globals.exit_realtime_ns = TIDEMARK_WORD(image, GlobalRecord, exit_realtime_ns);
  return globals;
}

DeviceInfo decode_device_info(const RecordImage<DeviceInfoRecord>& image) {
  DeviceInfo info;
  info.backend = backend_of(TIDEMARK_WORD(image, DeviceInfoRecord, backend));
  info.ordinal =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(TIDEMARK_WORD(image, DeviceInfoRecord, ordinal), UINT32_MAX));
  std::memcpy(info.uuid.data(), image.words(offsetof(DeviceInfoRecord, uuid), 2).data(), info.uuid.size());
  info.capacity_bytes = TIDEMARK_WORD(image, DeviceInfoRecord, capacity_bytes);
  info.simulated = TIDEMARK_WORD(image, DeviceInfoRecord, simulated) != 0;
  info.pci_bus_id.assign(TIDEMARK_TEXT(image, DeviceInfoRecord, pci_bus_id));
  info.name.assign(TIDEMARK_TEXT(image, DeviceInfoRecord, name));
  return info;
}

Acknowledgement decode_acknowledgement(const RecordImage<AckRecord>& image) {
  Acknowledgement ack;
  ack.ticket = TIDEMARK_WORD(image, AckRecord, ticket);
  ack.status = enum_of<AckStatus>(TIDEMARK_WORD(image, AckRecord, status));
  ack.operation = static_cast<std::uint32_t>(TIDEMARK_WORD(image, AckRecord, operation));
  ack.time_realtime_ns = TIDEMARK_WORD(image, AckRecord, time_realtime_ns);
  std::ranges::copy(image.words(offsetof(AckRecord, results), kAckResults), ack.results.begin());
  ack.detail.assign(TIDEMARK_TEXT(image, AckRecord, detail));
  return ack;
}

CoverageList decode_coverage(const RecordImage<CoverageRecord>& image) {
  CoverageList coverage;
  for (std::size_t i = 0; i < kMostCoverageEntries; ++i) {
    const std::size_t at = offsetof(CoverageRecord, symbols) + i * kCoverageWords * sizeof(std::uint64_t);
    std::string name = image.text(at, kCoverageNameWords);
    if (name.empty()) {
      break;
    }
    const std::size_t numbers = at + kCoverageNameBytes;
    coverage.push_back({.name = std::move(name),
                        .uses = image.word(numbers),
                        .unaccounted_calls = image.word(numbers + sizeof(std::uint64_t))});
  }
  return coverage;
}

std::vector<Setting> decode_settings(const RecordImage<SettingsRecord>& image) {
  constexpr std::size_t kWords = sizeof(SettingsRecord::text) / sizeof(std::uint64_t);
  const auto bytes = std::as_bytes(image.words(offsetof(SettingsRecord, text), kWords));
  std::string_view rest{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto take = [&rest] {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    std::string text = clean_text(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return text;
  };
  std::vector<Setting> settings;
  while (!rest.empty() && rest.front() != '\0') {
    std::string name = take();
    settings.push_back({.name = std::move(name), .value = take()});
  }
  return settings;
}

#undef TIDEMARK_TEXT
#undef TIDEMARK_WORD

}  // namespace tidemark::segment
