#include "viewer/render/results_json.hpp"

#include "viewer/clean_text.hpp"

#include <nlohmann/json.hpp>

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;

// The names of `ps --csv`, where that has them.
Json numbers_json(const std::optional<Figures>& known) {
  if (!known) {
    return nullptr;
  }
  return {{"requested_bytes", known->requested},
          {"allocated_bytes", known->allocated},
          {"peak_allocated_bytes", known->allocated_peak},
          {"pending_free_bytes", known->pending},
          {"cached_bytes", known->cached},
          {"inactive_split_bytes", known->split},
          {"pinned_bytes", known->pinned},
          {"reserved_bytes", known->reserved},
          {"peak_reserved_bytes", known->reserved_peak},
          {"held_bytes", known->held},
          {"peak_held_bytes", known->held_peak},
          {"allocations", known->allocations},
          {"retries", known->retries},
          {"ooms", known->ooms},
          {"limit_bytes", known->limit ? Json(*known->limit) : Json(nullptr)}};
}

Json peak_json(const std::optional<PeakFigures>& peak) {
  if (!peak) {
    return nullptr;
  }
  const auto bytes = [](const std::optional<std::uint64_t>& known) { return known ? Json(*known) : Json(nullptr); };
  return {{"seconds", peak->seconds},
          {"allocated_bytes", bytes(peak->allocated)},
          {"reserved_bytes", bytes(peak->reserved)},
          {"held_bytes", bytes(peak->held)}};
}

}  // namespace

std::string results_json(const std::vector<DeviceOutcome>& outcomes) {
  Json json{{"schema", 1}, {"results", Json::array()}};
  for (const DeviceOutcome& outcome : outcomes) {
    const ActResult& result = outcome.result;
    json["results"].push_back({{"id", result.id},
                               {"pid", result.pid > 0 ? Json(result.pid) : Json(nullptr)},
                               {"device", result.device},
                               {"status", result.status},
                               {"detail", result.detail.empty() ? Json(nullptr) : Json(result.detail)},
                               {"before", numbers_json(outcome.before)},
                               {"after", numbers_json(outcome.after)},
                               {"peak", peak_json(outcome.own_peak)}});
  }
  return escape_in_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace tidemark::viewer
