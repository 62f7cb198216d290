// tidemark.h: memory history, out-of-memory observers, phases.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/library/export_history.hpp"
#include "client/library/failure.hpp"
#include "client/library/phases.hpp"
#include "client/library/process_handle.hpp"

using tidemark::client::answered;
using tidemark::client::Failure;
using tidemark::client::quoted;
using tidemark::client::require;
using tidemark::client::serving_shim;
using tidemark::client::subject_of;

namespace history = tidemark::history;

namespace {

history::Enabled read_enabled(std::string_view text) {
  for (const history::Enabled enabled : {history::Enabled::State, history::Enabled::All}) {
    if (text == to_text(enabled)) {
      return enabled;
    }
  }
  throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                "enabled " + quoted(text) + "; allowed: NULL (off), \"state\", \"all\"");
}

history::Stacks read_stacks(const char* text) {
  if (text == nullptr) {
    return history::Stacks::All;
  }
  for (const history::Stacks stacks :
       {history::Stacks::None, history::Stacks::Cpp, history::Stacks::Python, history::Stacks::All}) {
    if (std::string_view{text} == to_text(stacks)) {
      return stacks;
    }
  }
  throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                "stacks " + quoted(text) + "; allowed: \"none\", \"cpp\", \"python\", \"all\"");
}

void check_entries(std::uint64_t max_entries) {
  if (max_entries > history::kMostEntries) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, "max_entries " + std::to_string(max_entries) + "; allowed: 0 to " +
                                                       std::to_string(history::kMostEntries));
  }
}

}  // namespace

extern "C" {

int tidemark_record_memory_history(tidemark_process* process, const char* enabled, const char* stacks,
                                   uint64_t max_entries) {
  return answered([&] {
    const history::Stacks which = read_stacks(stacks);
    check_entries(max_entries);
    if (enabled == nullptr) {
      subject_of(process).stop_recording();
    } else {
      subject_of(process).record(read_enabled(enabled), which, max_entries);
    }
    return int{TIDEMARK_OK};
  });
}

int tidemark_export_memory_history(tidemark_process* process, const char* path) {
  return answered([&] {
    require(path, "path");
    tidemark::client::export_history(subject_of(process), path);
    return int{TIDEMARK_OK};
  });
}

int tidemark_attach_out_of_memory_observer(tidemark_out_of_memory_observer observer, void* data) {
  return answered([&] {
    require(reinterpret_cast<const void*>(observer), "observer");
    if (const tidemark::ShimTable* const shim = serving_shim(); shim != nullptr) {
      const std::int32_t code = shim->attach_observer(observer, data);
      if (code == tidemark::kShimBusy) {
        throw Failure(TIDEMARK_ERROR_BUSY,
                      "all 64 places for observers are taken; tidemark_detach_out_of_memory_observer() gives one back");
      }
      tidemark::client::check_shim("observer", code);
    }
    return int{TIDEMARK_OK};
  });
}

int tidemark_detach_out_of_memory_observer(tidemark_out_of_memory_observer observer, void* data) {
  return answered([&] {
    require(reinterpret_cast<const void*>(observer), "observer");
    if (const tidemark::ShimTable* const shim = serving_shim(); shim != nullptr) {
      if (shim->detach_observer(observer, data) != tidemark::kShimOk) {
        throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, "this observer is not attached with this data");
      }
    }
    return int{TIDEMARK_OK};
  });
}

int tidemark_phase_push(const char* name) {
  return answered([&] {
    tidemark::client::push_phase(name);
    return int{TIDEMARK_OK};
  });
}

// What can't be read ends all the same: a caller that pushes and pops keeps its balance.
int tidemark_phase_pop(tidemark_device_stats* peaks) {
  return answered([&] {
    tidemark::client::require_phase();
    const int read = peaks == nullptr ? int{TIDEMARK_OK} : tidemark_phase_stats(nullptr, peaks);
    tidemark::client::pop_phase();
    return read;
  });
}

int tidemark_phase_stats(const char* device, tidemark_device_stats* out) {
  return answered([&] {
    require(out, "out");
    tidemark::client::read_innermost_phase(tidemark::client::read_one_device(device), *out);
    return int{TIDEMARK_OK};
  });
}

int64_t tidemark_phase_begin(void) {
  return answered([] { return tidemark::client::begin_phase(); });
}

int tidemark_phase_read(int64_t phase, const char* device, tidemark_device_stats* out) {
  return answered([&] {
    require(out, "out");
    tidemark::client::read_phase(phase, tidemark::client::read_one_device(device), *out);
    return int{TIDEMARK_OK};
  });
}

int tidemark_phase_end(int64_t phase) {
  return answered([&] {
    tidemark::client::end_phase(phase);
    return int{TIDEMARK_OK};
  });
}

const char* tidemark_phase_name(void) { return tidemark::client::phase_name(); }

}  // extern "C"
