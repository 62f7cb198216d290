#include "viewer/launch/run_options.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/launch/preload_text.hpp"

#include "shared/base/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace tidemark::viewer {
namespace {

enum class Form { Word, Text, Label, Limit, Count, Directory, Path };

struct RunOption {
  OptionSpec spec;
  std::string_view variable;
  Form form = Form::Word;
  std::string_view words;    // what is allowed, between blanks; also for Path: words that are no path
  std::string_view implied;  // the value of an option given without one
};

constexpr std::array kRunOptions{
    RunOption{{"--mode", "", Takes::Value, "MODE", "cache (default): serve from a cache; count: only look; off"},
              "TIDEMARK_MODE",
              Form::Word,
              "cache count off",
              ""},
    RunOption{{"--free", "", Takes::Value, "HOW", "strict (default): a free waits for the device; fast: it does not"},
              "TIDEMARK_FREE",
              Form::Word,
              "strict fast",
              ""},
    RunOption{{"--limit", "", Takes::Value, "SIZE", "most memory to reserve: 8GiB, or cuda:0=8GiB,mtia=80%"},
              "TIDEMARK_LIMIT",
              Form::Limit,
              "",
              ""},
    RunOption{{"--label", "", Takes::Value, "TEXT", "a name for this job in every view"},
              "TIDEMARK_LABEL",
              Form::Label,
              "",
              ""},
    RunOption{{"--alloc-conf", "", Takes::Value, "KEY:VALUE,...", "settings of the cache, as PYTORCH_CUDA_ALLOC_CONF"},
              "TIDEMARK_ALLOC_CONF",
              Form::Text,
              "",
              ""},
    RunOption{{"--dir", "", Takes::Value, "DIR", "where the program's segment goes (/dev/shm)"},
              "TIDEMARK_DIR",
              Form::Directory,
              "",
              ""},
    RunOption{{"--shm", "", Takes::Value, "HOW", "named (default), memfd or off"},
              "TIDEMARK_SHM",
              Form::Word,
              "named memfd off",
              ""},
    RunOption{{"--access", "", Takes::Value, "WHO", "who may read the counters: owner (default), group, all"},
              "TIDEMARK_ACCESS",
              Form::Word,
              "owner group all",
              ""},
    RunOption{{"--keep", "", Takes::Value, "WHAT", "segments that stay after the process: auto (default), all, none"},
              "TIDEMARK_KEEP",
              Form::Word,
              "auto all none",
              ""},
    RunOption{{"--control", "", Takes::Value, "WHAT", "requests that are obeyed: full (default), peaks, off"},
              "TIDEMARK_CONTROL",
              Form::Word,
              "full peaks off",
              ""},
    RunOption{{"--thread", "", Takes::Value, "SWITCH", "the service thread: on (default) or off"},
              "TIDEMARK_THREAD",
              Form::Word,
              "on off 1 0",
              ""},
    RunOption{{"--skip", "", Takes::Value, "NAME,...", "executables that are left alone"},
              "TIDEMARK_SKIP",
              Form::Text,
              "",
              ""},
    RunOption{{"--record", "", Takes::OptionalValue, "WHAT", "memory history from the start: all (default) or state"},
              "TIDEMARK_RECORD",
              Form::Word,
              "all state off",
              "all"},
    RunOption{{"--record-stacks", "", Takes::Value, "WHICH", "stacks in the history: all, cpp, python, none"},
              "TIDEMARK_RECORD_STACKS",
              Form::Word,
              "all cpp python none",
              ""},
    RunOption{{"--record-max-entries", "", Takes::Value, "N", "entries of the history, per device"},
              "TIDEMARK_RECORD_MAX_ENTRIES",
              Form::Count,
              "",
              ""},
    RunOption{{"--snapshot-on-oom", "", Takes::Value, "FILE", "a snapshot at each out-of-memory"},
              "TIDEMARK_SNAPSHOT_ON_OOM",
              Form::Path,
              "",
              ""},
    RunOption{{"--report", "", Takes::OptionalValue, "FILE", "a summary at exit, on stderr or into FILE; off: none"},
              "TIDEMARK_REPORT",
              Form::Path,
              "stderr off",
              "stderr"},
    RunOption{{"--fill", "", Takes::Value, "HOW", "contents of blocks handed out: none (default), zero, poison"},
              "TIDEMARK_FILL",
              Form::Word,
              "none zero poison",
              ""},
    RunOption{{"--log", "", Takes::Value, "LEVEL", "warn (default), error, info, debug, off"},
              "TIDEMARK_LOG",
              Form::Word,
              "warn error info debug off",
              ""},
    RunOption{{"--log-file", "", Takes::Value, "FILE", "the log goes there instead of stderr"},
              "TIDEMARK_LOG_FILE",
              Form::Path,
              "stderr",
              ""},
};

constexpr std::array kOwnOptions{
    OptionSpec{"--simulate", "", Takes::Value, "DEVICE", "mtia or cuda: run on the simulated driver, without a card"},
    OptionSpec{"--unpool", "", Takes::Nothing, "", "turn off the pools of PyTorch and JAX, so that each tensor shows"},
    OptionSpec{"--strict", "", Takes::Nothing, "", "do not start a program that cannot be tracked (exit 125)"},
};

constexpr std::size_t kLabelBytes = 64;

[[noreturn]] void refuse(const RunOption& option, std::string_view value, std::string_view allowed) {
  throw Failure(ExitCode::Usage, fmt::format("run: {} '{}'; allowed: {}", option.spec.name, value, allowed));
}

bool is_one_of(std::string_view words, std::string_view value) {
  return !value.empty() && value.find(' ') == std::string_view::npos &&
         fmt::format(" {} ", words).find(fmt::format(" {} ", value)) != std::string::npos;
}

bool is_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value > 0;
}

bool is_percentage(std::string_view text) {
  double value = 0;
  if (!text.ends_with('%')) {
    return false;
  }
  text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc{} && end == text.data() + text.size() && value > 0 && value <= 100;
}

// "cuda", "mtia:1", "1": the process's own devices.
bool is_device(std::string_view text) {
  const auto is_number = [](std::string_view digits) {
    return !digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view kind = text.substr(0, text.find(':'));
  if (kind == "cuda" || kind == "mtia") {
    return kind.size() == text.size() || is_number(text.substr(kind.size() + 1));
  }
  return is_number(text);
}

bool is_limit(std::string_view text) {
  for (bool more = true; more;) {
    const std::size_t end = text.find(',');
    std::string_view item = text.substr(0, end);
    more = end != std::string_view::npos;
    text.remove_prefix(more ? end + 1 : text.size());
    if (const std::size_t equals = item.find('='); equals != std::string_view::npos) {
      if (!is_device(item.substr(0, equals))) {
        return false;
      }
      item.remove_prefix(equals + 1);
    }
    if (!is_percentage(item) && parse_size(item).value_or(Bytes{}).count() == 0) {
      return false;
    }
  }
  return true;
}

std::string absolute(std::string_view path) { return std::filesystem::absolute(path).lexically_normal().string(); }

std::string checked(const RunOption& option, const std::string& value) {
  switch (option.form) {
    case Form::Word:
      if (!is_one_of(option.words, value)) {
        refuse(option, value, option.words);
      }
      return value;
    case Form::Text:
      return value;
    case Form::Label:
      if (value.empty() || value.size() > kLabelBytes) {
        refuse(option, value, fmt::format("1 to {} bytes of text", kLabelBytes));
      }
      return value;
    case Form::Limit:
      if (!is_limit(value)) {
        refuse(option, value, fmt::format("{}, a percentage like 80%, or DEVICE=SIZE,...", kSizeForms));
      }
      return value;
    case Form::Count:
      if (!is_count(value)) {
        refuse(option, value, "a whole number above 0");
      }
      return value;
    case Form::Directory:
      if (std::error_code ignored; !std::filesystem::is_directory(value, ignored)) {
        refuse(option, value, "an existing directory");
      }
      return absolute(value);
    case Form::Path:
      if (value.empty()) {
        refuse(option, value, "a file name");
      }
      return is_one_of(option.words, value) ? value : absolute(value);
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
    for (const RunOption& option : kRunOptions) {
      all.push_back(option.spec);
    }
    all.insert(all.end(), kOwnOptions.begin(), kOwnOptions.end());
    return all;
  }();
  return specs;
}

Settings shim_settings(const Arguments& arguments, const Environment& environment, bool stderr_is_terminal) {
  Settings settings;
  for (const RunOption& option : kRunOptions) {
    if (arguments.has(option.spec.name)) {
      const std::string value = arguments.value(option.spec.name).value_or(std::string{option.implied});
      settings.emplace_back(option.variable, checked(option, value));
    }
  }
  const bool quiet = arguments.has("--quiet");
  if (!arguments.has("--report") && stderr_is_terminal && !quiet) {
    set_unless_set(settings, environment, "TIDEMARK_REPORT", "stderr");
  }
  if (!arguments.has("--log") && quiet) {
    set_unless_set(settings, environment, "TIDEMARK_LOG", "off");
  }
  if (arguments.has("--unpool")) {
    set_unless_set(settings, environment, "PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
    set_unless_set(settings, environment, "XLA_PYTHON_CLIENT_PREALLOCATE", "false");
    set_unless_set(settings, environment, "XLA_PYTHON_CLIENT_ALLOCATOR", "platform");
  }
  if (const auto device = arguments.value("--simulate"); device && *device != "mtia" && *device != "cuda") {
    throw Failure(ExitCode::Usage, fmt::format("run: --simulate '{}'; allowed: mtia cuda", *device));
  }
  return settings;
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
