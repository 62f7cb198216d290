#include "shim/runtime/runtime.hpp"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "shared/base/scratch.hpp"
#include "shim/alloc/clock.hpp"
#include "shim/hook/hooked_symbol.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/alloc_settings.hpp"
#include "shim/runtime/call_counts.hpp"
#include "shim/runtime/out_of_memory_line.hpp"
#include "shim/runtime/settings_text.hpp"

namespace tidemark::runtime {
namespace {

constexpr std::string_view kVersion = TIDEMARK_VERSION;

// Handlers are inherited by fork; one registration serves every process that comes of this image.
constinit std::atomic<bool> is_exit_handler_registered{false};

void at_exit() noexcept {
  if (Runtime* const runtime = runtime_if_built(); runtime != nullptr) {
    runtime->finish();
  }
}

const char* const* trusted_environment() noexcept {
  static constexpr const char* kNone[] = {nullptr};
  return getauxval(AT_SECURE) != 0 ? kNone : environ;
}

// A forked child has its parent's environment, and with it a number that isn't its own.
bool is_skipped(const Options& options) noexcept {
  if (options.only_pid != 0 && options.only_pid != static_cast<std::uint64_t>(getpid())) {
    return true;
  }
  if (options.skip.empty()) {
    return false;
  }
  const Scratch<std::array<char, PATH_MAX>> path;
  const ssize_t length = path ? readlink("/proc/self/exe", path->data(), path->size()) : -1;
  if (length <= 0) {
    return false;
  }
  const std::string_view whole{path->data(), static_cast<std::size_t>(length)};
  return is_in_list(options.skip.view(), whole.substr(whole.rfind('/') + 1));
}

segment::HookCounts count_hooks() noexcept {
  segment::HookCounts counts;
  counts.lookups = hook::dlsym_calls();
  counts.resolver_lookups = call_counts.resolver.load(std::memory_order_relaxed);
  counts.foreign_frees = call_counts.foreign_frees.load(std::memory_order_relaxed);
  counts.swapped_lookups = call_counts.swapped.load(std::memory_order_relaxed);
  return counts;
}

static_assert(hook::SymbolUses::kMissed == static_cast<std::uint64_t>(segment::SymbolUse::Missed));
static_assert(hook::SymbolUses::kSwapped == static_cast<std::uint64_t>(segment::SymbolUse::Swapped));
static_assert(hook::SymbolUses::kResolved == static_cast<std::uint64_t>(segment::SymbolUse::Resolved));
static_assert(hook::SymbolUses::kEntered == static_cast<std::uint64_t>(segment::SymbolUse::Entered));

std::size_t read_coverage(std::span<segment::CoverageEntry> entries) noexcept {
  const std::size_t count = std::min(entries.size(), hook::hooked_symbols.size());
  for (std::size_t i = 0; i < count; ++i) {
    const hook::HookedSymbol& symbol = hook::hooked_symbols[i];
    entries[i] = {.name = symbol.name, .uses = symbol.uses->uses(), .unaccounted_calls = symbol.uses->unaccounted()};
  }
  return count;
}

void want_a_look() noexcept {
  if (Runtime* const runtime = runtime_if_built(); runtime != nullptr) {
    runtime->ask_for_a_look();
  }
}

segment::Access to_segment(Access access) noexcept {
  switch (access) {
    case Access::Group:
      return segment::Access::Group;
    case Access::All:
      return segment::Access::All;
    case Access::Owner:
      break;
  }
  return segment::Access::Owner;
}

segment::ControlPolicy to_segment(Control control) noexcept {
  switch (control) {
    case Control::Off:
      return segment::ControlPolicy::Off;
    case Control::Peaks:
      return segment::ControlPolicy::Peaks;
    case Control::Full:
      break;
  }
  return segment::ControlPolicy::Full;
}

std::int64_t rank_from(std::initializer_list<const char*> names) noexcept {
  for (const char* name : names) {
    const char* text = secure_getenv(name);
    char* end = nullptr;
    const long value = text == nullptr ? -1 : strtol(text, &end, 10);
    if (text != nullptr && end != text && *end == '\0' && value >= 0) {
      return value;
    }
  }
  return -1;
}

// torchrun, Open MPI, MPICH and Slurm, in this order: a job step of Slurm that runs torchrun has both.
segment::Rank read_rank() noexcept {
  return {.global = rank_from({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}),
          .local = rank_from({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}),
          .world = rank_from({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"})};
}

segment::Backend backend_of(Layer layer) noexcept {
  return layer == Layer::Mtia ? segment::Backend::Mtia : segment::Backend::Cuda;
}

}  // namespace

constinit ProcessRuntime process_runtime;

Runtime::Runtime() noexcept : options_(read_options(trusted_environment(), warnings_)) {
  pool_switches_ = read_pool_switches(trusted_environment());
  hook::ObjectList::hold_still(
      [&](const hook::ObjectList& objects) { look_for_interposer(objects, trusted_environment(), situation_); });
  is_counting_applied_ = is_counting();
  is_wanted_ = options_.mode != Mode::Off && !is_skipped(options_);
  // Before anything can be said: of an out-of-memory also where no call has succeeded yet.
  set_log(options_.log, options_.log_file.c_str_or_null());
}

ServedDevice& Runtime::make_place(DeviceKey key, const backend::DeviceIdentity& identity) noexcept {
  segment::DeviceInfo info;
  info.backend = backend_of(key.layer);
  info.ordinal = key.ordinal;
  info.uuid = identity.uuid;
  info.name.assign(identity.name.data());
  info.pci_bus_id.assign(identity.pci_bus_id.data());
  info.capacity_bytes = identity.capacity.count();
  info.simulated = identity.is_simulated;
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count > 0 && (place(0).key().layer != key.layer || place(0).key().runtime != key.runtime)) {
    has_several_drivers_.store(true, std::memory_order_relaxed);  // before it has memory that could be freed
  }
  return *new (places_[count].bytes) ServedDevice(key, info);
}

bool Runtime::is_of(const alloc::DeviceCache& cache, Layer layer, std::uint8_t runtime) noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (&place(i).cache() == &cache) {
      return place(i).key().layer == layer && place(i).key().runtime == runtime;
    }
  }
  return true;  // one that is just being made: it has no memory yet
}

alloc::Fill Runtime::fill_for(const alloc::Upstream& upstream) noexcept {
  if (options_.fill == Fill::None || upstream.can_fill()) {
    return options_.fill == Fill::Zero     ? alloc::Fill::Zero
           : options_.fill == Fill::Poison ? alloc::Fill::Poison
                                           : alloc::Fill::None;
  }
  lacks_fill_ = true;
  return alloc::Fill::None;
}

alloc::Policy Runtime::policy_for(DeviceKey key, const backend::DeviceIdentity& identity,
                                  const alloc::Upstream& upstream) noexcept {
  const bool is_mtia = key.layer == Layer::Mtia;
  alloc::Policy policy = is_mtia ? alloc::Policy::mtia_default() : alloc::Policy::cuda_default();
  look_around();  // before the first block could be cached that had better not be
  policy.mode = is_counting() ? DeviceMode::Count : DeviceMode::Cache;
  policy.free_mode = options_.free == Free::Fast ? alloc::FreeMode::Fast : alloc::FreeMode::Strict;
  policy.fill = fill_for(upstream);
  apply_alloc_conf(options_.alloc_conf.view(), policy, identity.capacity, warnings_);
  if (const auto limit =
          limit_for(options_.limit.view(), {backend_text(key.layer), key.ordinal}, identity.capacity, warnings_)) {
    policy.limit = limit;
  }
  warnings_.take_no_more();  // those of the first device are the same as every other's
  return policy;
}

void Runtime::show(ServedDevice& device) noexcept {
  const hook::CancellationAway cancellation;
  const std::lock_guard lock{mutex_};
  if (device.is_visible()) {
    return;
  }
  start_once();
  if (lacks_fill_ && !has_warned_of_fill_) {
    has_warned_of_fill_ = true;
    log_line(LogLevel::Warn, "TIDEMARK_FILL has no effect where a driver can't fill memory; none is used there");
  }
  // A thread of ours may call a driver only where that cannot meet a collective of the program's (DESIGN D11).
  const Status recorded = publisher_.add_device({.cache = &device.cache(),
                                                 .sink = &device.sink(),
                                                 .place = place_of(device),
                                                 .counts_kinds = device.counts_kinds(),
                                                 .has_background_driver_calls = device.key().layer == Layer::Mtia});
  if (!recorded) {
    log_line(LogLevel::Error, "no memory history of %s:%u: %s", backend_text(device.key().layer),
             static_cast<unsigned>(device.key().ordinal), strerror(recorded.error().native));
  }
  if (device.counts_kinds()) {
    kinds().publish(place_of(device));
    kinds().publish(alloc::KindBooks::kHostPlace);
  }
  device.set_visible();
  publish_layer();
  log_line(LogLevel::Info, "%s:%u: '%s' is served", backend_text(device.key().layer),
           static_cast<unsigned>(device.key().ordinal), device.sink().info().name.c_str());
}

void Runtime::show_process() noexcept {
  const hook::CancellationAway cancellation;
  const std::lock_guard lock{mutex_};
  start_once();
  kinds().publish(alloc::KindBooks::kHostPlace);
}

// Requires: mutex_.
void Runtime::start_once() noexcept {
  if (!is_visible_.load(std::memory_order_relaxed)) {
    look_around();
    start();
    publisher_.add_kinds(kinds());
    is_visible_.store(true, std::memory_order_release);
  }
}

void Runtime::start() noexcept {
  start_publishing();
  if (options_.record != Record::Off) {
    start_recording();
  }
  is_started_ = true;
}

// The first moment at which anything of ours can be noticed: a line, a file, a thread.
void Runtime::start_publishing() noexcept {
  warnings_.say();
  log_line(LogLevel::Info, "version %s, mode %s, %s frees, counters %s%s", TIDEMARK_VERSION,
           is_counting() ? "count" : "cache", options_.free == Free::Fast ? "fast" : "strict",
           options_.segment == SegmentKind::Named ? "in " : "",
           options_.segment == SegmentKind::Off     ? "off"
           : options_.segment == SegmentKind::Memfd ? "in a memfd"
           : options_.directory.empty()             ? "/dev/shm"
                                                    : options_.directory.c_str());
  started_ns_ = alloc::Clock::system().monotonic_ns();
  if (!is_exit_handler_registered.exchange(true)) {
    (void)atexit(&at_exit);
  }
  if (options_.segment == SegmentKind::Off) {
    publisher_.start_unpublished(&want_a_look);
    return;
  }
  publish::Publisher::Settings settings;
  settings.segment.directory = options_.directory.c_str_or_null();
  settings.segment.backing = options_.segment == SegmentKind::Memfd ? segment::Backing::Memfd : segment::Backing::Named;
  settings.segment.access = to_segment(options_.access);
  settings.segment.label = options_.label.view();
  settings.segment.shim_version = kVersion;
  const Scratch<SettingsText> shown;
  settings.segment.settings = shown ? list_settings(options_, *shown) : std::string_view{};
  settings.segment.rank = read_rank();
  settings.control = to_segment(options_.control);
  settings.mode = is_counting() ? segment::ProcessMode::Count : segment::ProcessMode::Cache;
  settings.mode_reason = options_.mode == Mode::Count ? "TIDEMARK_MODE=count"
                         : is_counting()              ? situation_.count_only.data()
                                                      : "";
  settings.on_beat = &want_a_look;
  settings.has_thread = options_.has_thread;
  settings.count_hooks = &count_hooks;
  settings.read_coverage = &read_coverage;
  if (const Status started = publisher_.start(settings); !started.ok()) {
    const bool is_relative = !options_.directory.empty() && options_.directory.view().front() != '/';
    log_line(LogLevel::Error, "cannot create a segment in %s (%s); counters off, memory still cached",
             options_.directory.empty() ? "/dev/shm" : options_.directory.c_str(),
             is_relative                   ? "not an absolute path"
             : started.error().native != 0 ? strerror(started.error().native)
                                           : "not supported here");
    publisher_.start_unpublished(&want_a_look);
    return;
  }
  publisher_.set_inner_pool(applied_pool_);
  if (options_.free == Free::Fast) {
    publisher_.set_flag(segment::ProcessFlag::FastFree);
  }
  if (had_out_of_memory_.load(std::memory_order_relaxed)) {
    publisher_.set_flag(segment::ProcessFlag::HadOutOfMemory);
  }
}

void Runtime::after_failure(ServedDevice& device, const Error& error) noexcept {
  if (error.code == ErrorCode::NoSpace || error.code == ErrorCode::System) {
    publisher_.count_error(error);
  }
  if (error.code != ErrorCode::OutOfMemory) {
    return;
  }
  had_out_of_memory_.store(true, std::memory_order_relaxed);
  publisher_.set_flag(segment::ProcessFlag::HadOutOfMemory);
  say_out_of_memory(device);
  if (device.is_visible()) {  // before the program's first success there is nothing to see, and nothing of ours is seen
    snapshots_.take(historian(), options_.snapshot_on_oom.view());
  }
}

void Runtime::publish_layer() noexcept {
  bool has_driver = false;
  bool has_runtime = false;
  for_each_device(Layer::CudaDriver, [&](ServedDevice& device) { has_driver |= device.is_visible(); });
  for_each_device(Layer::CudaRuntime, [&](ServedDevice& device) { has_runtime |= device.is_visible(); });
  if (has_driver || has_runtime) {
    publisher_.set_layer(has_driver && has_runtime ? segment::Layer::Both
                         : has_driver              ? segment::Layer::Driver
                                                   : segment::Layer::Runtime);
  }
}

Runtime* build_runtime_now() noexcept {
  ForkWord& word = process_runtime.fork_word;
  for (;;) {
    switch (word.load()) {
      case BuildState::Ready:
        return &process_runtime.stored();
      case BuildState::Disabled:
        return nullptr;
      case BuildState::Building:
        sched_yield();  // reading a few variables: microseconds
        break;
      case BuildState::None:
        if (word.begin_building()) {
          const auto* made = new (process_runtime.storage) Runtime;
          word.store(made->is_wanted() ? BuildState::Ready : BuildState::Disabled);
        } else if (word.load() == BuildState::None) {
          return nullptr;  // no page for the word
        }
        break;
    }
  }
}

}  // namespace tidemark::runtime
