// What a segment says now: the reader's copies of all records that change.
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>

#include "shared/segment/decode.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::segment {
namespace {

ProcessGlobals globals_of(const RecordImage<GlobalRecord>& image, CopyOutcome outcome) {
  ProcessGlobals globals = decode_globals(image);
  globals.approximate = outcome != CopyOutcome::Consistent;
  return globals;
}

}  // namespace

ProcessGlobals SegmentReader::globals(const ReadBudget& budget) const {
  RecordImage<GlobalRecord> image;
  const CopyOutcome outcome = image.copy(file_.get(), sections_.global.offset, sections_.global.stride, budget);
  return globals_of(image, outcome);
}

bool SegmentReader::is_active(const RecordScan& scan, std::uint32_t slot) const noexcept {
  return scan.first_word(sections_.devices.at(slot) + offsetof(DeviceRecord, state)) ==
         static_cast<std::uint64_t>(DeviceState::Active);
}

// The slots up to the last that is taken.
std::uint32_t SegmentReader::devices_in(const RecordScan& scan) const noexcept {
  std::uint32_t devices = sections_.devices.count;
  while (devices > 0 && !is_active(scan, devices - 1)) {
    --devices;
  }
  return devices;
}

// All records that change but acknowledgements and kinds, of so many devices.
FileRange SegmentReader::range_of(std::uint32_t devices) const noexcept {
  const Section& global = sections_.global;
  FileRange range{.begin = global.offset, .end = global.at(global.count)};
  for (const Section* section : {&sections_.device_info, &sections_.devices}) {
    if (devices > 0) {
      range.begin = std::min<std::uint64_t>(range.begin, section->offset);
      range.end = std::max(range.end, section->at(devices));
    }
  }
  return range;
}

// The first read, of no more devices than most processes have; of all where the last of them is taken. In our layout
// they are taken in their order.
RecordScan SegmentReader::begin_scan() const {
  constexpr std::uint32_t kUsual = 3;
  if (sections_.devices.count > kUsual && !has_newer_layout_) {
    RecordScan scan{file_.get(), range_of(kUsual)};
    if (!is_active(scan, kUsual - 1)) {
      return scan;
    }
  }
  return RecordScan{file_.get(), range_of(sections_.devices.count)};
}

// The second read and the third, only as far as there are devices.
void SegmentReader::finish(RecordScan& scan) const {
  scan.read_words(range_of(devices_in(scan)));
  scan.read_again();
}

bool SegmentReader::has_just_beaten(const RecordScan& scan, const EarlierSnapshot& earlier) const noexcept {
  constexpr std::uint64_t kBeatsWithin = 1'500'000'000;  // it beats once a second
  const auto word = [&](std::size_t offset) { return scan.first_word(sections_.global.offset + offset); };
  // Of a clock that another time namespace has set apart nothing follows.
  const std::uint64_t now = clock_ns(CLOCK_BOOTTIME);
  const std::uint64_t beat = word(offsetof(GlobalRecord, heartbeat_boottime_ns));
  return earlier.heartbeat_count != 0 && word(offsetof(GlobalRecord, heartbeat_count)) > earlier.heartbeat_count &&
         beat <= now && now - beat < kBeatsWithin;
}

// A device that comes while we read is for the next time: its info is surely complete only before its record says so.
std::vector<DeviceSnapshot> SegmentReader::devices(const RecordScan& scan, const ReadBudget& budget) const {
  const std::uint32_t slots = devices_in(scan);
  std::vector<DeviceSnapshot> found;
  found.reserve(slots);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (!is_active(scan, slot)) {
      continue;
    }
    RecordImage<DeviceRecord> image;
    const CopyOutcome outcome =
        image.copy(scan, file_.get(), sections_.devices.at(slot), sections_.devices.stride, budget);
    RecordImage<DeviceInfoRecord> info;
    const CopyOutcome info_outcome =
        info.copy(scan, file_.get(), sections_.device_info.at(slot), sections_.device_info.stride, budget);
    if (outcome == CopyOutcome::Failed || info_outcome == CopyOutcome::Failed ||
        image.word(offsetof(DeviceRecord, state)) != static_cast<std::uint64_t>(DeviceState::Active) ||
        info.word(offsetof(DeviceInfoRecord, valid)) == 0) {
      continue;
    }
    DeviceSnapshot& device = found.emplace_back();
    device.slot = slot;
    device.generation = image.word(offsetof(DeviceRecord, generation));
    device.info = decode_device_info(info);
    std::ranges::copy(image.words(offsetof(DeviceRecord, basis), kBasisWords), device.basis.words.begin());
    device.approximate = outcome != CopyOutcome::Consistent;
  }
  return found;
}

// A copy of their own: they change seldom, and `held` in the basis moves with them under another lock anyway. So seldom
// that the first read mostly shows that nothing moved.
void SegmentReader::add_kinds(ProcessSnapshot& snapshot, const ReadBudget& budget) const {
  const Section& kinds = sections_.kinds;
  const Section& host = sections_.host_kinds;
  if (kinds.count == 0 || host.count == 0) {
    return;
  }
  const FileRange range{.begin = std::min(kinds.offset, host.offset),
                        .end = std::max(kinds.at(kinds.count), host.at(host.count))};
  RecordScan scan{file_.get(), range};
  const std::uint32_t slots = snapshot.devices.empty() ? 0 : std::min(snapshot.devices.back().slot + 1, kinds.count);
  std::vector<std::uint64_t> sequences{scan.first_word(host.offset)};
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    sequences.push_back(scan.first_word(kinds.at(slot)));
  }
  if (sequences != kinds_seen_.sequences) {
    const bool lay_still = read_kinds(scan, range, slots, budget);
    kinds_seen_.sequences = lay_still ? std::move(sequences) : std::vector<std::uint64_t>{};
  }
  snapshot.host_kinds = kinds_seen_.host;
  for (DeviceSnapshot& device : snapshot.devices) {
    device.kinds = device.slot < slots ? kinds_seen_.devices[device.slot] : std::nullopt;
  }
}

// True: as the scan's first read showed their sequences.
bool SegmentReader::read_kinds(RecordScan& scan, FileRange range, std::uint32_t slots, const ReadBudget& budget) const {
  scan.read_words(range);
  scan.read_again();
  bool lay_still = true;
  const auto copy = [&](auto& image, std::uint64_t offset, std::size_t stride) {
    if (scan.take(offset, image.words_up_to(stride))) {
      return true;
    }
    lay_still = false;
    return image.copy(file_.get(), offset, stride, budget) != CopyOutcome::Failed;
  };
  RecordImage<HostKindsRecord> of_host;
  kinds_seen_.host.reset();
  if (copy(of_host, sections_.host_kinds.offset, sections_.host_kinds.stride) &&
      of_host.word(offsetof(HostKindsRecord, counted)) != 0) {
    kinds_seen_.host =
        decode_kinds<kHostKinds>(of_host.words(offsetof(HostKindsRecord, counts), kHostKinds * kKindWords));
  }
  const Section& kinds = sections_.kinds;
  kinds_seen_.devices.assign(slots, std::nullopt);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    RecordImage<KindsRecord> image;
    if (copy(image, kinds.at(slot), kinds.stride) && image.word(offsetof(KindsRecord, counted)) != 0) {
      kinds_seen_.devices[slot] =
          decode_kinds<kDeviceKinds>(image.words(offsetof(KindsRecord, counts), kDeviceKinds * kKindWords));
    }
  }
  return lay_still;
}

ProcessSnapshot SegmentReader::snapshot(const ReadBudget& budget, const EarlierSnapshot& earlier) const {
  ProcessSnapshot snapshot;
  snapshot.identity = identity_;
  snapshot.pid = visible_pid();
  RecordScan records = begin_scan();
  const bool runs = has_just_beaten(records, earlier) && is_owner_alive();
  snapshot.state = runs ? ProcessState::Live : state_of(snapshot.pid);
  if (snapshot.state != ProcessState::Live && snapshot.state != ProcessState::Stopped) {
    records = begin_scan();  // what is read after its end is the last
  }
  finish(records);
  RecordImage<GlobalRecord> image;
  const CopyOutcome outcome =
      image.copy(records, file_.get(), sections_.global.offset, sections_.global.stride, budget);
  snapshot.globals = globals_of(image, outcome);
  snapshot.devices = devices(records, budget);
  add_kinds(snapshot, budget);
  snapshot.has_newer_layout = has_newer_layout_;
  return snapshot;
}

}  // namespace tidemark::segment
