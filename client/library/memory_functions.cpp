// tidemark.h: counters, and acting on memory.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "client/library/failure.hpp"
#include "client/library/process_handle.hpp"
#include "client/library/stats.hpp"

using tidemark::DeviceBasis;
using tidemark::client::answered;
using tidemark::client::check_key;
using tidemark::client::clear_stats;
using tidemark::client::Failure;
using tidemark::client::fill_stats;
using tidemark::client::read_device;
using tidemark::client::read_one_device;
using tidemark::client::require;
using tidemark::client::Reset;
using tidemark::client::stat_of;
using tidemark::client::subject_of;

namespace {

// Uninitialised is 0.
std::int64_t number(tidemark_process* process, const char* device, const char* key) {
  return answered([&]() -> std::int64_t {
    check_key(key);
    try {
      return stat_of(subject_of(process).counters(read_one_device(device)), key);
    } catch (const Failure& failure) {
      if (failure.code() != TIDEMARK_ERROR_NOT_INITIALIZED) {
        throw;
      }
      return 0;
    }
  });
}

}  // namespace

extern "C" {

int tidemark_memory_stats(tidemark_process* process, const char* device, tidemark_device_stats* out) {
  return answered([&] {
    require(out, "out");
    clear_stats(*out);
    fill_stats(subject_of(process).counters(read_one_device(device)), *out);
    return int{TIDEMARK_OK};
  });
}

int64_t tidemark_memory_stat(tidemark_process* process, const char* device, const char* key) {
  return number(process, device, key);
}

int64_t tidemark_memory_allocated(tidemark_process* process, const char* device) {
  return number(process, device, "allocated_bytes.all.current");
}

int64_t tidemark_max_memory_allocated(tidemark_process* process, const char* device) {
  return number(process, device, "allocated_bytes.all.peak");
}

int64_t tidemark_memory_reserved(tidemark_process* process, const char* device) {
  return number(process, device, "reserved_bytes.all.current");
}

int64_t tidemark_max_memory_reserved(tidemark_process* process, const char* device) {
  return number(process, device, "reserved_bytes.all.peak");
}

int tidemark_get_memory_info(tidemark_process* process, const char* device, uint64_t* free, uint64_t* total) {
  return answered([&] {
    const tidemark::client::MemoryFigures figures = subject_of(process).memory_info(read_one_device(device));
    if (free != nullptr) {
      *free = figures.free;
    }
    if (total != nullptr) {
      *total = figures.total;
    }
    return int{TIDEMARK_OK};
  });
}

int tidemark_reset_peak_memory_stats(tidemark_process* process, const char* device) {
  return answered([&] {
    subject_of(process).reset(Reset::Peaks, read_device(device));
    return int{TIDEMARK_OK};
  });
}

int tidemark_reset_accumulated_memory_stats(tidemark_process* process, const char* device) {
  return answered([&] {
    subject_of(process).reset(Reset::Accumulated, read_device(device));
    return int{TIDEMARK_OK};
  });
}

int tidemark_empty_cache(tidemark_process* process, const char* device) {
  return answered([&] {
    subject_of(process).empty_cache(read_device(device));
    return int{TIDEMARK_OK};
  });
}

int tidemark_set_memory_limit(tidemark_process* process, const char* device, uint64_t bytes) {
  return answered([&] {
    subject_of(process).set_limit(read_device(device), bytes);
    return int{TIDEMARK_OK};
  });
}

int64_t tidemark_memory_limit(tidemark_process* process, const char* device) {
  return answered([&]() -> std::int64_t {
    const DeviceBasis basis = subject_of(process).counters(read_one_device(device));
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(basis[tidemark::BasisWord::limit_bytes], kMost));
  });
}

}  // extern "C"
