#include "viewer/export/exporter.hpp"

#include "viewer/export/live_json.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/render/json.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace tidemark::viewer {
namespace {

using namespace std::chrono_literals;

constexpr auto kRound = 1s;
// How long answers are waited for after their request, and for how long at most; later ones are taken in the next
// round.
constexpr auto kAnswerStep = 3ms;
constexpr auto kAnswersTake = 300ms;
// Segments without a name and those in containers cost a look at every process.
constexpr auto kEverywhere = 5s;
constexpr auto kSweep = 10min;
// A driver that is awake answers in a few milliseconds; of one that isn't the answer comes with a later look.
constexpr auto kDriverPatience = 20ms;

bool can_look_into(const std::vector<std::filesystem::path>& directories) {
  return std::any_of(directories.begin(), directories.end(), [](const std::filesystem::path& directory) {
    return access(directory.c_str(), R_OK | X_OK) == 0;
  });
}

std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

}  // namespace

Exporter::Exporter(std::vector<std::filesystem::path> directories, const BookOptions& options)
    : directories_(std::move(directories)),
      books_(options),
      node_(options.is_lasting ? kDriverPatience : NodeWatch::kPatience),
      next_sweep_(Clock::now() + kSweep) {
  state_.has_windows = options.is_lasting;
  state_.driver_version = driver_version();
}

void Exporter::look(Clock::time_point now) {
  node_.ask();
  const bool is_everywhere = now >= next_everywhere_;
  View view = collect(directories_, {.view = &books_.view(), .looks_everywhere = is_everywhere});
  if (is_everywhere) {
    next_everywhere_ = now + kEverywhere;
  }
  node_.answer_into(view);
  books_.take(std::move(view), peaks_.unasked(), now);
  devices_.take(books_.view(), now);
  state_.is_up = can_look_into(directories_);
  state_.look_seconds = std::chrono::duration<double>(Clock::now() - now).count();
}

std::chrono::milliseconds Exporter::tick() {
  const Clock::time_point now = Clock::now();
  if (now >= next_round_) {
    next_round_ = (now - next_round_ < kRound ? next_round_ : now) + kRound;  // a missed one is not made up for
    look(now);
    timeline_.add(devices_.all(), books_.view().time_ns);
    peaks_.begin_round(books_.view());
    sweep_now_and_then(now);
    return kAnswerStep;
  }
  const bool is_waiting = peaks_.advance(
      [&](std::uint64_t nonce, std::uint32_t slot, const Peaks& peaks) { books_.add_peaks(nonce, slot, peaks, now); });
  const auto until_round = std::chrono::ceil<std::chrono::milliseconds>(next_round_ - now);
  return is_waiting && next_round_ - now > kRound - kAnswersTake
             ? std::min<std::chrono::milliseconds>(kAnswerStep, until_round)
             : until_round;
}

// What killed processes left would otherwise stay where nobody calls `ps`.
void Exporter::sweep_now_and_then(Clock::time_point now) {
  if (now >= next_sweep_) {
    next_sweep_ = now + kSweep;
    sweep(directories_, geteuid() == 0);
  }
}

std::string Exporter::metrics(TextFormat format, std::string_view reader, bool is_taken) {
  const Clock::time_point now = Clock::now();
  look(now);
  const Readers::Found found = readers_.find(reader);
  if (found.is_new) {
    books_.welcome(found.reader, now);
  }
  std::string text = write_page(books_, devices_.all(), state_, now, found.reader).text(format);
  if (is_taken) {
    books_.mark_shown(found.reader);
  }
  return text;
}

std::string Exporter::ps_document() {
  look(Clock::now());
  return ps_json(books_.view());
}

std::string Exporter::live_document() {
  look(Clock::now());
  return live_json(books_, devices_.all(), timeline_);
}

}  // namespace tidemark::viewer
