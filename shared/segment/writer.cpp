#include "shared/segment/writer.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "shared/segment/fill_segment.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/segment_files.hpp"
#include "shared/segment/stores.hpp"

namespace tidemark::segment {
namespace {

template <std::size_t Kinds>
void store_kinds(std::array<Word, Kinds * kKindWords>& words, const KindCounts<Kinds>& counts) {
  Word* word = words.data();
  for (const KindCount& kind : counts.kinds) {
    for (const std::uint64_t value : {kind.current_bytes, kind.peak_bytes, kind.current_count, kind.total_count}) {
      store_word(*word++, value);
    }
  }
}

// `sequence` and all else of the record is the lock holder's.
void store_coverage(CoverageRecord& record, std::uint64_t& sequence, std::span<const CoverageEntry> entries) {
  const WriteSection section{record.sequence, sequence};
  store_word(record.written, 1);
  Word* word = record.symbols.data();
  for (const CoverageEntry& entry : entries.first(std::min(entries.size(), kMostCoverageEntries))) {
    std::array<std::uint64_t, kCoverageNameWords> name{};
    std::memcpy(name.data(), entry.name.data(), std::min(entry.name.size(), kCoverageNameBytes - 1));
    for (const std::uint64_t value : name) {
      store_word(*word++, value);
    }
    store_word(*word++, entry.uses);
    store_word(*word++, entry.unaccounted_calls);
  }
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
  std::array<std::uint64_t, kDeviceSlots> kinds_sequences{};
  std::uint64_t host_kinds_sequence = 0;
  std::uint64_t coverage_sequence = 0;
  std::uint64_t coverage_sum = 0;
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

  // Requires: the lock. Uses are only ever added, so that an equal sum means the same: nothing is written then, and an
  // idle process touches no page of it.
  void write_coverage(std::span<const CoverageEntry> entries) {
    std::uint64_t sum = entries.size();
    for (const CoverageEntry& entry : entries) {
      sum += entry.uses + entry.unaccounted_calls;
    }
    if (sum != coverage_sum) {
      coverage_sum = sum;
      store_coverage(layout->coverage, coverage_sequence, entries);
    }
  }

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
  if (const Status created = create_files(options, fill_segment, state->files); !created) {
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

void SegmentWriter::set_kinds(std::uint32_t slot, const DeviceKindCounts& counts) noexcept {
  const State::Guard guard{*state_};
  KindsRecord& record = state_->layout->kinds[slot];
  const WriteSection section{record.sequence, state_->kinds_sequences[slot]};
  store_word(record.counted, 1);
  store_kinds(record.counts, counts);
}

void SegmentWriter::set_host_kinds(const HostKindCounts& counts) noexcept {
  const State::Guard guard{*state_};
  HostKindsRecord& record = state_->layout->host_kinds;
  const WriteSection section{record.sequence, state_->host_kinds_sequence};
  store_word(record.counted, 1);
  store_kinds(record.counts, counts);
}

void SegmentWriter::set_coverage(std::span<const CoverageEntry> entries) noexcept {
  const State::Guard guard{*state_};
  state_->write_coverage(entries);
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
    store_word(global.foreign_frees, counts.foreign_frees);
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
void SegmentWriter::mark_exited(std::span<const CoverageEntry> coverage) noexcept {
  state_->layout->head.state.store(static_cast<std::uint32_t>(SegmentState::Exited), std::memory_order_release);
  const State::Guard guard{*state_, 1000};
  if (guard.is_held()) {
    const WriteSection section{state_->layout->global.sequence, state_->global_sequence};
    store_word(state_->layout->global.exit_realtime_ns, clock_ns(CLOCK_REALTIME));
    if (!coverage.empty()) {
      state_->write_coverage(coverage);
    }
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

const IdentityRecord& SegmentWriter::identity() const noexcept { return state_->layout->identity; }
const void* SegmentWriter::control_address() const noexcept { return state_->files.control.address(); }
Status SegmentWriter::check_control() const noexcept { return check_control_file(state_->files); }
Status SegmentWriter::read_control(std::span<std::byte> into, std::size_t offset) const noexcept {
  return read_control_file(state_->files, into, offset);
}
std::optional<bool> SegmentWriter::is_control_locked(std::uint64_t offset) const noexcept {
  return is_control_file_locked(state_->files, offset);
}

}  // namespace tidemark::segment
