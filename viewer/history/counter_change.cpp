#include "viewer/history/counter_change.hpp"

namespace tidemark::viewer {
namespace {

void add_changes(const std::string& prefix, const Value& before, const Value& after, const std::string& device,
                 std::vector<CounterChange>& changes) {
  const DictPtr members = after.dict();
  if (!members) {
    return;
  }
  for (const auto& [name, value] : members->members) {
    const Value& earlier = before[*name];
    const std::string counter = prefix.empty() ? *name : prefix + "." + *name;
    if (value.is_integer() && earlier.is_integer() && value.integer() != earlier.integer()) {
      changes.push_back({.device = device,
                         .counter = counter,
                         .before = static_cast<std::int64_t>(earlier.integer()),
                         .after = static_cast<std::int64_t>(value.integer())});
    } else if (*name != "last_oom") {  // a moment, not something that grows
      add_changes(*name == "stats" ? prefix : counter, earlier, value, device, changes);
    }
  }
}

const Value& device_of(const Value& document, std::string_view name) {
  static const Value kNone;
  for (const Value& device : document["devices"].items()) {
    if (device["device"].text() == name) {
      return device;
    }
  }
  return kNone;
}

}  // namespace

bool is_show_document(const Value& document) {
  return document["schema"].is_integer() && document["state"].shared_text() && document["devices"].list();
}

std::vector<CounterChange> compare_counters(const Value& before, const Value& after) {
  std::vector<CounterChange> changes;
  for (const Value& device : after["devices"].items()) {
    const std::string name{device["device"].text()};
    add_changes("", device_of(before, name), device, name, changes);
  }
  return changes;
}

}  // namespace tidemark::viewer
