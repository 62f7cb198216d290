#include "shared/segment/fill_segment.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>

#include "shared/segment/layout.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/stores.hpp"

namespace tidemark::segment {
namespace {

// Whole pairs alone.
void store_settings(SettingsRecord& record, std::string_view settings) {
  std::size_t used = 0;
  for (std::size_t nuls = 0, i = 0; i < std::min(settings.size(), sizeof(SettingsRecord::text)); ++i) {
    if (settings[i] == '\0' && ++nuls % 2 == 0) {
      used = i + 1;
    }
  }
  Word* word = record.text.data();
  for (std::string_view rest = settings.substr(0, used); !rest.empty();) {
    std::uint64_t value = 0;
    const std::size_t bytes = std::min(rest.size(), sizeof value);
    std::memcpy(&value, rest.data(), bytes);
    store_word(*word++, value);
    rest.remove_prefix(bytes);
  }
}

void fill_identity(IdentityRecord& record, const WriterOptions& options) {
  const OwnIdentity own = read_own_identity();
  store_word(record.pid, own.pid);
  store_word(record.start_ticks, own.start_ticks);
  store_word(record.ticks_per_second, own.ticks_per_second);
  store_word(record.parent_pid, own.parent_pid);
  store_word(record.pid_namespace, own.pid_namespace);
  store_word(record.user_namespace, own.user_namespace);
  store_word(record.uid, own.uid);
  store_word(record.gid, own.gid);
  store_word(record.create_realtime_ns, clock_ns(CLOCK_REALTIME));
  store_word(record.create_monotonic_ns, clock_ns(CLOCK_MONOTONIC));
  store_word(record.create_boottime_ns, clock_ns(CLOCK_BOOTTIME));
  store_word(record.boot_id[0], own.boot_id[0]);
  store_word(record.boot_id[1], own.boot_id[1]);
  store_word(record.rank_global, static_cast<std::uint64_t>(options.rank.global + 1));
  store_word(record.rank_local, static_cast<std::uint64_t>(options.rank.local + 1));
  store_word(record.rank_world, static_cast<std::uint64_t>(options.rank.world + 1));
  store_text(record.comm, own.comm);
  store_text(record.executable, own.executable);
  store_text(record.command, options.command.empty() ? own.command : CommandText{options.command});
  store_text(record.label, Text<65>{options.label});
  store_text(record.shim_version, Text<32>{options.shim_version});
}

void fill_section(SectionEntry& entry, SectionType type, std::size_t offset, std::size_t stride, std::size_t count) {
  entry.type.store(static_cast<std::uint32_t>(type), std::memory_order_relaxed);
  entry.version.store(1, std::memory_order_relaxed);
  entry.offset.store(static_cast<std::uint32_t>(offset), std::memory_order_relaxed);
  entry.stride.store(static_cast<std::uint32_t>(stride), std::memory_order_relaxed);
  entry.count.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  entry.bytes.store(static_cast<std::uint32_t>(stride * count), std::memory_order_relaxed);
}

constexpr std::uint32_t kSections = 9;

void fill_section_table(std::array<SectionEntry, kSectionTableEntries>& table) {
  fill_section(table[0], SectionType::Identity, offsetof(SegmentLayout, identity), sizeof(IdentityRecord), 1);
  fill_section(table[1], SectionType::Global, offsetof(SegmentLayout, global), sizeof(GlobalRecord), 1);
  fill_section(table[2], SectionType::DeviceInfo, offsetof(SegmentLayout, device_info), sizeof(DeviceInfoRecord),
               kDeviceSlots);
  fill_section(table[3], SectionType::Devices, offsetof(SegmentLayout, devices), sizeof(DeviceRecord), kDeviceSlots);
  fill_section(table[4], SectionType::Acks, offsetof(SegmentLayout, acks), sizeof(AckRecord), kAckSlots);
  fill_section(table[5], SectionType::Kinds, offsetof(SegmentLayout, kinds), sizeof(KindsRecord), kDeviceSlots);
  fill_section(table[6], SectionType::HostKinds, offsetof(SegmentLayout, host_kinds), sizeof(HostKindsRecord), 1);
  fill_section(table[7], SectionType::Coverage, offsetof(SegmentLayout, coverage), sizeof(CoverageRecord), 1);
  fill_section(table[8], SectionType::Settings, offsetof(SegmentLayout, settings), sizeof(SettingsRecord), 1);
}

void fill_head(Head& head, std::uint64_t nonce, bool has_control) {
  constexpr auto kOrder = std::memory_order_relaxed;
  head.magic.store(kMagic, kOrder);
  head.major.store(kMajor, kOrder);
  head.minor.store(kMinor, kOrder);
  head.min_reader_minor.store(kMinReaderMinor, kOrder);
  head.pointer_bits.store(sizeof(void*) * CHAR_BIT, kOrder);
  head.endian_tag.store(1, kOrder);
  head.header_bytes.store(offsetof(SegmentLayout, sections), kOrder);
  head.total_bytes.store(kSegmentBytes, kOrder);
  head.section_count.store(kSections, kOrder);
  head.section_table_offset.store(offsetof(SegmentLayout, sections), kOrder);
  head.nonce.store(nonce, kOrder);
  head.features.store(has_control ? kFeatureControl : 0, kOrder);
  head.layout_hash.store(kLayoutHash, kOrder);
  head.state.store(static_cast<std::uint32_t>(SegmentState::Ready), std::memory_order_release);
}

}  // namespace

void fill_segment(std::span<std::byte> memory, std::uint64_t nonce, const WriterOptions& options) noexcept {
  auto& layout = *new (memory.data()) SegmentLayout{};
  fill_identity(layout.identity, options);
  store_settings(layout.settings, options.settings);
  fill_section_table(layout.sections);
  store_enum(layout.global.control_policy, options.control_policy);
  fill_head(layout.head, nonce, options.control != nullptr);
}

}  // namespace tidemark::segment
