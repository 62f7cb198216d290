// The keys of TIDEMARK_ALLOC_CONF: what the library knows, and what may be told to whoever mistypes one.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark {

inline constexpr std::array<std::string_view, 10> kAllocConfKeys{
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "large_segment_size_mb",
    "roundup_power2_divisions",
    "garbage_collection_threshold",
    "per_process_memory_fraction",
    "large",
    "small_limit_kb",
    "max_cached_mb",
    "max_idle_s",
};

// PyTorch's, which mean nothing here and are no mistake.
inline constexpr std::array<std::string_view, 13> kAllocConfKeysWithoutEffect{
    "backend",
    "expandable_segments",
    "expandable_segments_reserve",
    "expandable_segments_reserve_by_class",
    "release_lock_on_cudamalloc",
    "release_lock_on_hipmalloc",
    "throw_on_cudamalloc_oom",
    "graph_capture_record_stream_reuse",
    "pinned_use_cuda_host_register",
    "pinned_num_register_threads",
    "pinned_use_background_threads",
    "pinned_reserve_segment_size_mb",
    "pinned_free_catch_all",
};

// The first list as text, for messages: "max_split_size_mb, ..., max_idle_s".
inline constexpr std::array<char, 256> kAllocConfKeyText = [] {
  std::array<char, 256> text{};
  auto* end = text.data();
  for (const std::string_view key : kAllocConfKeys) {
    for (const std::string_view part : {end == text.data() ? std::string_view{} : std::string_view{", "}, key}) {
      end = std::copy(part.begin(), part.end(), end);
    }
  }
  return text;
}();

[[nodiscard]] constexpr bool is_alloc_conf_key(std::string_view name) noexcept {
  const auto has = [&](const auto& keys) { return std::find(keys.begin(), keys.end(), name) != keys.end(); };
  return has(kAllocConfKeys) || has(kAllocConfKeysWithoutEffect);
}

}  // namespace tidemark
