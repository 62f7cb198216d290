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

enum class Form { Word, Text, Label, Limit, Directory, Path };

struct RunOption {
  OptionSpec spec;
  std::string_view variable;
  Form form;
  std::string_view words;  // what is allowed, between blanks; for Path: words that are no path
};

constexpr RunOption option(std::string_view name, std::string_view value, std::string_view variable, Form form,
                           std::string_view words, std::string_view help) {
  return {{name, "", Takes::Value, value, help}, variable, form, words};
}

constexpr std::array kRunOptions{
    option("--mode", "MODE", "TIDEMARK_MODE", Form::Word, "cache count off",
           "cache (default): serve from a cache; count: only look; off"),
    option("--free", "HOW", "TIDEMARK_FREE", Form::Word, "strict fast",
           "strict (default): a free waits for the device; fast: it does not"),
    option("--fill", "WITH", "TIDEMARK_FILL", Form::Word, "none zero poison",
           "contents of blocks handed out (zero) or taken back (poison); none (default)"),
    option("--limit", "SIZE", "TIDEMARK_LIMIT", Form::Limit, "",
           "most memory to reserve: 8GiB, or cuda:0=8GiB,mtia=80%"),
    option("--label", "TEXT", "TIDEMARK_LABEL", Form::Label, "", "a name for this job in every view"),
    option("--alloc-conf", "KEY:VALUE,...", "TIDEMARK_ALLOC_CONF", Form::Text, "",
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
    option("--log", "LEVEL", "TIDEMARK_LOG", Form::Word, "warn error info debug off",
           "warn (default), error, info, debug, off"),
    option("--log-file", "FILE", "TIDEMARK_LOG_FILE", Form::Path, "stderr", "the log goes there instead of stderr"),
};

constexpr std::array kOwnOptions{
    OptionSpec{"--simulate", "", Takes::Value, "DEVICE", "mtia or cuda: run on the simulated driver, without a card"},
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

std::string checked(const RunOption& known, const std::string& value) {
  switch (known.form) {
    case Form::Word:
      if (!is_one_of(known.words, value)) {
        refuse(known, value, known.words);
      }
      return value;
    case Form::Text:
      return value;
    case Form::Label:
      if (value.empty() || value.size() > kLabelBytes) {
        refuse(known, value, fmt::format("1 to {} bytes of text", kLabelBytes));
      }
      return value;
    case Form::Limit:
      if (!is_limit(value)) {
        refuse(known, value, fmt::format("{}, a percentage like 80%, or DEVICE=SIZE,...", kSizeForms));
      }
      return value;
    case Form::Directory:
      if (std::error_code ignored; !std::filesystem::is_directory(value, ignored)) {
        refuse(known, value, "an existing directory");
      }
      return absolute(value);
    case Form::Path:
      if (value.empty()) {
        refuse(known, value, "a file name");
      }
      return is_one_of(known.words, value) ? value : absolute(value);
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
    if (const auto value = arguments.value(known.spec.name)) {
      settings.emplace_back(known.variable, checked(known, *value));
    }
  }
  if (arguments.has("--quiet") && !arguments.has("--log")) {
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
