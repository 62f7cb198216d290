#include "shared/segment/writer.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "shared/segment/layout.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/segment_files.hpp"

namespace tidemark::segment {
namespace {

template <std::size_t Count, std::size_t Size>
void store_text(std::array<Word, Count>& words, const Text<Size>& text) {
  static_assert(Size <= Count * sizeof(std::uint64_t));
  std::array<std::uint64_t, Count> image{};
  std::memcpy(image.data(), text.view().data(), text.view().size());
  for (std::size_t i = 0; i < Count; ++i) {
    store_word(words[i], image[i]);
  }
}

template <class Enum>
void store_enum(Word& word, Enum value) {
  store_word(word, static_cast<std::uint64_t>(value));
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

constexpr std::uint32_t kSections = 5;

void fill_section_table(std::array<SectionEntry, kSectionTableEntries>& table) {
  fill_section(table[0], SectionType::Identity, offsetof(SegmentLayout, identity), sizeof(IdentityRecord), 1);
  fill_section(table[1], SectionType::Global, offsetof(SegmentLayout, global), sizeof(GlobalRecord), 1);
  fill_section(table[2], SectionType::DeviceInfo, offsetof(SegmentLayout, device_info), sizeof(DeviceInfoRecord),
               kDeviceSlots);
  fill_section(table[3], SectionType::Devices, offsetof(SegmentLayout, devices), sizeof(DeviceRecord), kDeviceSlots);
  fill_section(table[4], SectionType::Acks, offsetof(SegmentLayout, acks), sizeof(AckRecord), kAckSlots);
}

void fill_head(Head& head, std::uint64_t nonce, bool has_control) {
  constexpr auto order = std::memory_order_relaxed;
  head.magic.store(kMagic, order);
  head.major.store(kMajor, order);
  head.minor.store(kMinor, order);
  head.min_reader_minor.store(kMinReaderMinor, order);
  head.pointer_bits.store(sizeof(void*) * CHAR_BIT, order);
  head.endian_tag.store(1, order);
  head.header_bytes.store(offsetof(SegmentLayout, sections), order);
  head.total_bytes.store(kSegmentBytes, order);
  head.section_count.store(kSections, order);
  head.section_table_offset.store(offsetof(SegmentLayout, sections), order);
  head.nonce.store(nonce, order);
  head.features.store(has_control ? kFeatureControl : 0, order);
  head.layout_hash.store(kLayoutHash, order);
  head.state.store(static_cast<std::uint32_t>(SegmentState::Ready), std::memory_order_release);
}

void fill_stats(std::span<std::byte> memory, std::uint64_t nonce, const WriterOptions& options) noexcept {
  auto& layout = *new (memory.data()) SegmentLayout{};
  fill_identity(layout.identity, options);
  fill_section_table(layout.sections);
  store_enum(layout.global.control_policy, options.control_policy);
  fill_head(layout.head, nonce, options.control != nullptr);
}

void wake_all(Word& word) {
  // The low half of the word: the layout is little-endian.
  ::syscall(SYS_futex, static_cast<void*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

struct SegmentWriter::State {
  SegmentFiles files;
  SegmentLayout* layout = nullptr;
  std::atomic_flag lock;
  // What readers see as sequences and counts; kept here because shared memory is never read back.
  std::uint64_t global_sequence = 0;
  std::array<std::uint64_t, kDeviceSlots> info_sequences{};
  std::array<std::uint64_t, kAckSlots> ack_sequences{};
  std::uint64_t ack_bell = 0;
  std::uint32_t devices = 0;
  std::uint64_t heartbeats = 0;
  std::uint64_t errors = 0;
  std::uint64_t flags = 0;
  ProcessMode mode = ProcessMode::Unknown;

  // Held for a few dozen stores; a std::mutex would bring nothing but a system call.
  class Guard {
   public:
    explicit Guard(State& state, int most_spins = INT_MAX) : lock_(state.lock) {
      for (int spins = 0; lock_.test_and_set(std::memory_order_acquire); ++spins) {
        if (spins == most_spins) {
          is_held_ = false;
          return;
        }
        if (spins > 100) {
          ::sched_yield();
        }
      }
    }
    ~Guard() {
      if (is_held_) {
        lock_.clear(std::memory_order_release);
      }
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    [[nodiscard]] bool is_held() const { return is_held_; }

   private:
    std::atomic_flag& lock_;
    bool is_held_ = true;
  };

  template <class Body>
  void change_global(Body body) {
    const Guard guard{*this};
    const WriteSection section{layout->global.sequence, global_sequence};
    body(layout->global);
  }
};

SegmentWriter::SegmentWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
SegmentWriter::SegmentWriter(SegmentWriter&&) noexcept = default;
SegmentWriter& SegmentWriter::operator=(SegmentWriter&&) noexcept = default;
SegmentWriter::~SegmentWriter() = default;

Result<SegmentWriter> SegmentWriter::create(const WriterOptions& options) noexcept {
  std::unique_ptr<State> state{new (std::nothrow) State};
  if (!state) {
    return Error{ErrorCode::System, ENOMEM};
  }
  if (const Status created = create_files(options, fill_stats, state->files); !created) {
    return created.error();
  }
  state->layout = std::launder(reinterpret_cast<SegmentLayout*>(state->files.stats.address()));
  return SegmentWriter{std::move(state)};
}

Result<DeviceSlot> SegmentWriter::claim_device(const DeviceInfo& info, const DeviceBasis& basis) noexcept {
  std::uint32_t index = 0;
  {
    const State::Guard guard{*state_};
    if (state_->devices == kDeviceSlots) {
      return Error{ErrorCode::NoSpace, 0};
    }
    index = state_->devices++;
  }
  set_device_info(index, info);
  DeviceRecord& record = state_->layout->devices[index];
  DeviceSlot slot{record, 0, index};
  {
    // One section for state and basis: who sees the device sees its numbers.
    const WriteSection section{record.sequence, slot.sequence_};
    store_word(record.generation, 1);
    store_enum(record.state, DeviceState::Active);
    store_lines(record.basis, basis, kAllBasisLines);
  }
  return slot;
}

void SegmentWriter::set_device_info(std::uint32_t slot, const DeviceInfo& info) noexcept {
  const State::Guard guard{*state_};
  DeviceInfoRecord& record = state_->layout->device_info[slot];
  const WriteSection section{record.sequence, state_->info_sequences[slot]};
  std::array<std::uint64_t, 2> uuid{};
  std::memcpy(uuid.data(), info.uuid.data(), info.uuid.size());
  store_word(record.valid, 1);
  store_enum(record.backend, info.backend);
  store_word(record.ordinal, info.ordinal);
  store_word(record.uuid[0], uuid[0]);
  store_word(record.uuid[1], uuid[1]);
  store_word(record.capacity_bytes, info.capacity_bytes);
  store_word(record.simulated, info.simulated ? 1 : 0);
  store_text(record.pci_bus_id, info.pci_bus_id);
  store_text(record.name, info.name);
}

void SegmentWriter::set_mode(ProcessMode mode, std::string_view reason) noexcept {
  state_->change_global([&](GlobalRecord& global) {
    if (mode != state_->mode) {
      state_->mode = mode;
      store_word(global.mode_realtime_ns, clock_ns(CLOCK_REALTIME));
    }
    store_enum(global.mode, mode);
    store_text(global.mode_reason, Text<128>{reason});
  });
}

void SegmentWriter::set_layer(Layer layer) noexcept {
  state_->change_global([&](GlobalRecord& global) { store_enum(global.layer, layer); });
}

void SegmentWriter::set_flag(ProcessFlag flag, bool on) noexcept {
  state_->change_global([&](GlobalRecord& global) {
    const auto bit = static_cast<std::uint64_t>(flag);
    state_->flags = on ? state_->flags | bit : state_->flags & ~bit;
    store_word(global.flags, state_->flags);
  });
}

void SegmentWriter::set_control_policy(ControlPolicy policy) noexcept {
  state_->change_global([&](GlobalRecord& global) { store_enum(global.control_policy, policy); });
}

void SegmentWriter::set_inner_pool(InnerPool pool) noexcept {
  state_->change_global([&](GlobalRecord& global) { store_enum(global.inner_pool, pool); });
}

void SegmentWriter::count_error(ErrorCode code, int native) noexcept {
  state_->change_global([&](GlobalRecord& global) {
    store_word(global.errors, ++state_->errors);
    store_enum(global.last_error_code, code);
    store_word(global.last_error_native, static_cast<std::uint64_t>(native));
  });
}

void SegmentWriter::set_request_counts(std::uint64_t done, std::uint64_t refused, std::uint64_t ignored) noexcept {
  state_->change_global([&](GlobalRecord& global) {
    store_word(global.requests_done, done);
    store_word(global.requests_refused, refused);
    store_word(global.requests_ignored, ignored);
  });
}

std::uint64_t SegmentWriter::beat(const HookCounts& counts) noexcept {
  const std::uint64_t realtime = clock_ns(CLOCK_REALTIME);
  const std::uint64_t boottime = clock_ns(CLOCK_BOOTTIME);
  std::uint64_t number = 0;
  state_->change_global([&](GlobalRecord& global) {
    number = ++state_->heartbeats;
    store_word(global.heartbeat_count, number);
    store_word(global.heartbeat_realtime_ns, realtime);
    store_word(global.heartbeat_boottime_ns, boottime);
    store_word(global.hook_calls, counts.hook_calls);
    store_word(global.forwarded_calls, counts.forwarded_calls);
    store_word(global.lookups, counts.lookups);
    store_word(global.resolver_lookups, counts.resolver_lookups);
    store_word(global.swapped_lookups, counts.swapped_lookups);
  });
  return number;
}

void SegmentWriter::acknowledge(std::uint32_t slot, const Acknowledgement& acknowledgement) noexcept {
  Word& bell = state_->layout->global.ack_bell;
  {
    const State::Guard guard{*state_};
    AckRecord& record = state_->layout->acks[slot];
    {
      const WriteSection section{record.sequence, state_->ack_sequences[slot]};
      store_word(record.ticket, acknowledgement.ticket);
      store_enum(record.status, acknowledgement.status);
      store_word(record.operation, acknowledgement.operation);
      store_word(record.time_realtime_ns, clock_ns(CLOCK_REALTIME));
      for (std::size_t i = 0; i < kAckResults; ++i) {
        store_word(record.results[i], acknowledgement.results[i]);
      }
      store_text(record.detail, acknowledgement.detail);
    }
    bell.store(++state_->ack_bell, std::memory_order_release);
  }
  wake_all(bell);
}

// exit() may be called in a signal handler that interrupted the lock's own holder: then the time stays unknown.
void SegmentWriter::mark_exited() noexcept {
  state_->layout->head.state.store(static_cast<std::uint32_t>(SegmentState::Exited), std::memory_order_release);
  const State::Guard guard{*state_, 1000};
  if (guard.is_held()) {
    const WriteSection section{state_->layout->global.sequence, state_->global_sequence};
    store_word(state_->layout->global.exit_realtime_ns, clock_ns(CLOCK_REALTIME));
  }
}

void SegmentWriter::remove_files() noexcept {
  if (state_->files.creator_pid != ::getpid()) {
    return;  // a forked child has neither the files nor the mapping
  }
  {
    const State::Guard guard{*state_, 1000};  // as in mark_exited()
    if (guard.is_held()) {
      const WriteSection section{state_->layout->global.sequence, state_->global_sequence};
      state_->flags |= static_cast<std::uint64_t>(ProcessFlag::GivenUp);
      store_word(state_->layout->global.flags, state_->flags);
    }
  }
  remove_names(state_->files);
}
bool SegmentWriter::is_name_present() const noexcept { return is_stats_name_present(state_->files); }
const char* SegmentWriter::path() const noexcept { return state_->files.stats_path.c_str(); }
std::uint64_t SegmentWriter::nonce() const noexcept { return state_->files.nonce; }
const void* SegmentWriter::control_address() const noexcept { return state_->files.control.address(); }
Status SegmentWriter::check_control() const noexcept { return check_control_file(state_->files); }
Status SegmentWriter::read_control(std::span<std::byte> into, std::size_t offset) const noexcept {
  return read_control_file(state_->files, into, offset);
}
std::optional<bool> SegmentWriter::is_control_locked(std::uint64_t offset) const noexcept {
  return is_control_file_locked(state_->files, offset);
}

}  // namespace tidemark::segment
