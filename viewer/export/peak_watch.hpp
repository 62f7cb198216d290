// Keeps peaks of the exporter's own in every process that lets it, second after second, and never waits for one of
// them: requests are posted for all, and answers taken as they come.
//
// A process has two slots of ours. Each round begins new peaks in one and only then reads the other, so that no instant
// is in neither:
//
//   slot A   begin ........................ read   begin ...
//   slot B                          begin ........................ read
//
// Threads: one at a time. A process that is stopped or idle without a service thread answers later, for all the time
// since its last round.
#pragma once

#include "viewer/export/peak_window.hpp"
#include "viewer/model/view.hpp"

#include "shared/control/client.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tidemark::viewer {

class PeakWatch {
 public:
  using Found = std::function<void(std::uint64_t nonce, std::uint32_t slot, const Peaks& peaks)>;

  // A round for every living process of `view` that is through with the last one. Others are given up.
  void begin_round(const View& view);

  // Takes the answers that are there; true: some are still to come.
  bool advance(const Found& found);

  // Living processes that can't be asked: another user's, or told to obey nobody.
  [[nodiscard]] const std::unordered_set<std::uint64_t>& unasked() const { return unasked_; }

 private:
  enum class Phase { Idle, Beginning, Reading };
  struct Watched {
    std::shared_ptr<const segment::SegmentReader> reader;          // outlives the clients
    std::array<std::optional<control::ControlClient>, 2> clients;  // none: not opened (yet)
    std::size_t current = 0;                                       // the one whose peaks are being counted
    bool has_begun = false;
    Phase phase = Phase::Idle;
    std::vector<std::uint32_t> slots;  // of devices, to be read
    std::size_t next_slot = 0;
    int rounds_to_skip = 0;
    bool is_seen = false;
  };

  bool open(Watched& watched);
  void begin(std::uint64_t nonce, Watched& watched);
  bool read_next(Watched& watched);
  // What became of the request that is under way; false: it isn't done.
  bool take_answer(std::uint64_t nonce, Watched& watched, const Found& found);
  void give_up(std::uint64_t nonce, Watched& watched);

  std::unordered_map<std::uint64_t, Watched> watched_;  // by nonce
  std::unordered_set<std::uint64_t> unasked_;
};

}  // namespace tidemark::viewer
