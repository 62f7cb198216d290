#include "viewer/launch/run_options.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/launch/limit_option.hpp"
#include "viewer/launch/preload_text.hpp"
#include "viewer/messages.hpp"
#include "viewer/number_text.hpp"

#include "shared/base/alloc_conf_keys.hpp"
#include "shared/history/words.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tidemark::viewer {
namespace {

enum class Form { Word, Text, Count, AllocConf, Label, Limit, Directory, Path, Pattern };

struct RunOption {
  OptionSpec spec;
  std::string_view variable;
  Form form;
  std::string_view words;  // what is allowed, between blanks; for Path and Pattern: words that are no path
};

constexpr RunOption option(std::string_view name, std::string_view value, std::string_view variable, Form form,
                           std::string_view words, std::string_view help) {
  return {{name, "", Takes::Value, value, help, words}, variable, form, words};
}

constexpr std::array kRunOptions{
    option("--mode", "MODE", "TIDEMARK_MODE", Form::Word, "cache count off",
           "cache (default): serve from a cache; count: only look; off"),
    option("--free", "HOW", "TIDEMARK_FREE", Form::Word, "strict fast",
           "strict (default): a free waits for the device; fast: it does not"),
    option("--fill", "WITH", "TIDEMARK_FILL", Form::Word, "none zero poison",
           "contents of blocks handed out (zero) or taken back (poison); none (default)"),
    option("--limit", "SIZE", "TIDEMARK_LIMIT", Form::Limit, "",
           "most memory to reserve: 8GiB, or cuda:0=8GiB,mtia=80% (repeatable)"),
    option("--label", "TEXT", "TIDEMARK_LABEL", Form::Label, "", "a name for this job in every view"),
    option("--alloc-conf", "KEY:VALUE,...", "TIDEMARK_ALLOC_CONF", Form::AllocConf, "",
           "settings of the cache, as PYTORCH_CUDA_ALLOC_CONF"),
    option("--dir", "DIR", "TIDEMARK_DIR", Form::Directory, "", "where the program's segment goes (/dev/shm)"),
    option("--shm", "HOW", "TIDEMARK_SHM", Form::Word, "named memfd off", "named (default), memfd or off"),
    option("--access", "WHO", "TIDEMARK_ACCESS", Form::Word, "owner group all",
           "who may read the counters: owner (default), group, all"),
    option("--keep", "WHAT", "TIDEMARK_KEEP", Form::Word, "auto all none",
           "segments that stay after the process: auto (default), all, none"),
    option("--control", "WHAT", "TIDEMARK_CONTROL", Form::Word, "full peaks off",
           "requests that are obeyed: full (default), peaks, off"),
    option("--thread", "SWITCH", "TIDEMARK_THREAD", Form::Word, "on off 1 0",
           "the service thread: on (default) or off"),
    option("--skip", "NAME,...", "TIDEMARK_SKIP", Form::Text, "", "executables that are left alone"),
    RunOption{{"--record", "", Takes::OptionalValue, "WHAT", "memory history: all (default), or state alone",
               "all state off"},
              "TIDEMARK_RECORD",
              Form::Word,
              "all state off"},
    option("--record-stacks", "WHICH", "TIDEMARK_RECORD_STACKS", Form::Word, "all cpp python none",
           "whose calls the history keeps: all (default), cpp, python, none"),
    option("--record-max-entries", "N", "TIDEMARK_RECORD_MAX_ENTRIES", Form::Count, "",
           "events that the history keeps of each device (150000)"),
    option("--snapshot-on-oom", "PATTERN", "TIDEMARK_SNAPSHOT_ON_OOM", Form::Pattern, "",
           "a snapshot there at each out-of-memory, at most 5: /tmp/%e-%p-%n.tmsnap"),
    RunOption{{"--report", "", Takes::OptionalValue, "FILE",
               "three lines at the end: on stderr (default on a terminal), or in FILE", "stderr terminal off"},
              "TIDEMARK_REPORT",
              Form::Pattern,
              "stderr terminal off"},
    option("--log", "LEVEL", "TIDEMARK_LOG", Form::Word, "warn error info debug off",
           "warn (default), error, info, debug, off"),
    option("--log-file", "FILE", "TIDEMARK_LOG_FILE", Form::Path, "stderr", "the log goes there instead of stderr"),
};

constexpr std::array kOwnOptions{
    OptionSpec{"--simulate", "", Takes::Value, "DEVICE", "mtia or cuda: run on the simulated driver, without a card",
               "mtia cuda"},
    OptionSpec{"--expect", "", Takes::Value, "WHAT",
               "peak<=512MiB, ooms==0, ...: exit 123 if not so at the end (repeatable); also held_peak, held, live"},
    OptionSpec{"--no-children", "", Takes::Nothing, "", "track CMD itself and none of the processes that it starts"},
    OptionSpec{"--nvtx", "", Takes::Nothing, "",
               "measure the program's NVTX ranges: 'tidemark ranges' shows each name's peak"},
    OptionSpec{"--unpool", "", Takes::Nothing, "", "turn off the pools of PyTorch and JAX, so that each tensor shows"},
    OptionSpec{"--strict", "", Takes::Nothing, "", "do not start a program that cannot be tracked (exit 125)"},
};

constexpr std::size_t kLabelBytes = 64;

[[noreturn]] void refuse(const RunOption& known, std::string_view value, std::string_view allowed) {
  throw Failure(ExitCode::Usage, fmt::format("run: {} '{}'; allowed: {}", known.spec.name, value, allowed));
}

bool is_one_of(std::string_view words, std::string_view value) {
  return !value.empty() && value.find(' ') == std::string_view::npos &&
         fmt::format(" {} ", words).find(fmt::format(" {} ", value)) != std::string::npos;
}

// Keys alone: what their values may be is the library's affair.
void check_alloc_conf(const RunOption& known, const std::string& value) {
  std::string_view rest = value;
  for (bool is_inside = false; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!is_inside) {
      const std::size_t begin = std::min(item.find_first_not_of(' '), item.size());
      const std::string_view name = item.substr(begin, item.find(':', begin) - begin);
      if (!name.empty() && !is_alloc_conf_key(name.substr(0, name.find_last_not_of(' ') + 1))) {
        refuse(known, value, fmt::format("{} (no key '{}')", kAllocConfKeyText.data(), name));
      }
    }
    // The commas of a list, [256:1,512:2], part no keys.
    is_inside = item.find(']') == std::string_view::npos && (is_inside || item.find('[') != std::string_view::npos);
  }
}

std::string absolute(std::string_view path) { return std::filesystem::absolute(path).lexically_normal().string(); }

// Can the program append to it, or make it? As far as can be said without making it.
void check_appendable(const RunOption& known, const std::string& path) {
  const auto refuse_for = [&](std::string_view reason) {
    refuse(known, path,
           fmt::format("a file that can be written ({}){}{}", reason, known.words.empty() ? "" : ", or ",
                       known.words.substr(0, known.words.find(' '))));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    refuse_for("this is a directory");
  }
  if (faccessat(AT_FDCWD, path.c_str(), F_OK, AT_EACCESS) == 0) {
    if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
      refuse_for(std::strerror(errno));
    }
    return;
  }
  const std::string parent = (std::filesystem::path{path}.parent_path() / ".").string();
  if (faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    refuse_for(fmt::format("its directory: {}", std::strerror(errno)));
  }
}

// A path in which the library fills in what only the process knows. What stands before the first such place has to be
// there.
std::string checked_pattern(const RunOption& known, const std::string& value) {
  constexpr std::string_view kPlaces = "pehtn%";
  for (std::size_t at = value.find('%'); at != std::string::npos; at = value.find('%', at + 2)) {
    if (at + 1 == value.size() || kPlaces.find(value[at + 1]) == std::string_view::npos) {
      refuse(known, value, "%p pid, %e executable, %h host, %t time, %n counter, %% itself");
    }
  }
  const std::string path = absolute(value);
  const std::size_t place = path.find('%');
  if (value.empty() || value.ends_with('/')) {
    refuse(known, value, "a file name (with %p pid, %e executable, %h host, %t time, %n counter)");
  }
  // "/tmp/%e/x" may have its directory made meanwhile; "/tmp/run-%e.txt" is made in one that is there.
  if (place == std::string::npos || path.find('/', place) == std::string::npos) {
    check_appendable(known, path);
  }
  return path;
}

std::string checked(const RunOption& known, const std::string& value) {
  switch (known.form) {
    case Form::Word:
      if (!is_one_of(known.words, value)) {
        refuse(known, value, known.words);
      }
      return value;
    case Form::Text:
      return value;
    case Form::Count:
      if (const auto count = parse_count(value); !count || *count == 0 || *count > history::kMostEntries) {
        refuse(known, value, fmt::format("1 to {}", history::kMostEntries));
      }
      return value;
    case Form::AllocConf:
      check_alloc_conf(known, value);
      return value;
    case Form::Label:
      if (value.empty() || value.size() > kLabelBytes) {
        refuse(known, value, fmt::format("1 to {} bytes of text", kLabelBytes));
      }
      return value;
    case Form::Limit:
      return value;  // checked with all others of it
    case Form::Directory:
      if (std::error_code ignored; !std::filesystem::is_directory(value, ignored)) {
        refuse(known, value, "an existing directory");
      }
      return absolute(value);
    case Form::Pattern:
      return is_one_of(known.words, value) ? value : checked_pattern(known, value);
    case Form::Path:
      if (value.empty()) {
        refuse(known, value, "a file name");
      }
      if (is_one_of(known.words, value)) {
        return value;
      }
      check_appendable(known, absolute(value));
      return absolute(value);
  }
  return value;
}

void set_unless_set(Settings& settings, const Environment& environment, std::string_view name, std::string_view value) {
  if (!environment(name)) {
    settings.emplace_back(name, value);
  }
}

}  // namespace

std::span<const OptionSpec> run_option_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all;
    for (const RunOption& known : kRunOptions) {
      all.push_back(known.spec);
    }
    all.insert(all.end(), kOwnOptions.begin(), kOwnOptions.end());
    return all;
  }();
  return specs;
}

Settings shim_settings(const Arguments& arguments, const Environment& environment) {
  Settings settings;
  for (const RunOption& known : kRunOptions) {
    if (known.form == Form::Limit && arguments.has(known.spec.name)) {
      settings.emplace_back(known.variable, limit_setting(arguments.values(known.spec.name)));
    } else if (const auto value = arguments.value(known.spec.name)) {
      settings.emplace_back(known.variable, checked(known, *value));
    } else if (arguments.has(known.spec.name) && known.spec.takes == Takes::OptionalValue) {
      settings.emplace_back(known.variable, known.words.substr(0, known.words.find(' ')));
    }
  }
  if (arguments.has("--quiet") && !arguments.has("--log")) {
    set_unless_set(settings, environment, "TIDEMARK_LOG", "error");
  }
  if (arguments.has("--unpool")) {
    set_unless_set(settings, environment, "PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
    set_unless_set(settings, environment, "XLA_PYTHON_CLIENT_PREALLOCATE", "false");
    set_unless_set(settings, environment, "XLA_PYTHON_CLIENT_ALLOCATOR", "platform");
  }
  if (const auto device = arguments.value("--simulate"); device && *device != "mtia" && *device != "cuda") {
    throw Failure(ExitCode::Usage, fmt::format("run: --simulate '{}'; allowed: mtia cuda", *device));
  } else if (device == "mtia") {
    // Both drivers lie in one directory, and who looks for an accelerator looks for CUDA first.
    set_unless_set(settings, environment, "CUDA_SIM_DEVICES", "0");
  }
  return settings;
}

void add_nvtx_setting(Settings& settings, const Arguments& arguments, const Environment& environment,
                      std::string_view library) {
  if (!arguments.has("--nvtx")) {
    return;
  }
  constexpr const char* kName = "NVTX_INJECTION64_PATH";
  const std::string tool = environment(kName).value_or("");
  if (tool.empty()) {
    settings.emplace_back(kName, library);
  } else if (tool != library) {
    warn(fmt::format("{} is {} already, which is kept: NVTX ranges go there and not to us", kName, tool));
  }
}

Settings loader_settings(const Environment& environment, std::string_view library, std::string_view simulator,
                         std::span<const std::string> sanitizers) {
  Settings settings;
  if (!simulator.empty()) {
    settings.emplace_back("LD_LIBRARY_PATH",
                          compose_library_path(environment("LD_LIBRARY_PATH").value_or(""), simulator));
  }
  settings.emplace_back("LD_PRELOAD", compose_preload(environment("LD_PRELOAD").value_or(""), library, sanitizers));
  return settings;
}

}  // namespace tidemark::viewer
