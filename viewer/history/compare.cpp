#include "viewer/history/compare.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark::viewer {
namespace {

void keep_changes(std::vector<Change>& changes) {
  std::erase_if(changes, [](const Change& change) { return change.bytes() == 0 && change.blocks() == 0; });
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.bytes() > b.bytes(); });
}

struct Side {
  const MemorySnapshot* snapshot = nullptr;
  const history::Device* device = nullptr;
};

// What `side` holds into `where` of each change, found by key or made.
void add_stacks(const Side& side, Held Change::*where, std::map<std::string, Change>& changes) {
  if (side.device == nullptr) {
    return;
  }
  for (StackHeld& stack : held_by_stack(*side.snapshot, *side.device)) {
    Change& change = changes[stack_key(stack.frames)];
    change.frames = std::move(stack.frames);
    change.*where = stack.held;
  }
}

void add_sizes(const Side& side, Held Change::*where, std::map<std::uint64_t, Change>& changes) {
  if (side.device == nullptr) {
    return;
  }
  for (const SizeHeld& size : held_by_size(*side.device)) {
    Change& change = changes[size.up_to];
    change.up_to = size.up_to;
    change.*where = size.held;
  }
}

template <class Key>
std::vector<Change> listed(std::map<Key, Change> by_key) {
  std::vector<Change> changes;
  for (auto& [key, change] : by_key) {
    changes.push_back(std::move(change));
  }
  keep_changes(changes);
  return changes;
}

DeviceChange change_of(const std::string& name, const Side& before, const Side& after) {
  DeviceChange change{.device = name};
  change.before = before.device == nullptr ? Held{} : held_in_all(*before.device);
  change.after = after.device == nullptr ? Held{} : held_in_all(*after.device);
  std::map<std::string, Change> stacks;
  add_stacks(before, &Change::before, stacks);
  add_stacks(after, &Change::after, stacks);
  change.stacks = listed(std::move(stacks));
  std::map<std::uint64_t, Change> sizes;
  add_sizes(before, &Change::before, sizes);
  add_sizes(after, &Change::after, sizes);
  change.sizes = listed(std::move(sizes));
  return change;
}

const history::Device* find_device(const MemorySnapshot& snapshot, const std::string& name) {
  const auto found = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                  [&](const history::Device& device) { return device_name(device.info) == name; });
  return found == snapshot.devices.end() ? nullptr : &*found;
}

}  // namespace

std::vector<DeviceChange> compare(const MemorySnapshot& before, const MemorySnapshot& after) {
  std::vector<std::string> names;
  for (const MemorySnapshot* snapshot : {&before, &after}) {
    for (const history::Device& device : snapshot->devices) {
      const std::string name = device_name(device.info);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  std::vector<DeviceChange> changes;
  for (const std::string& name : names) {
    changes.push_back(change_of(name, {&before, find_device(before, name)}, {&after, find_device(after, name)}));
  }
  return changes;
}

}  // namespace tidemark::viewer
