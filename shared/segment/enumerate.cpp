#include "shared/segment/enumerate.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "shared/segment/directory_scan.hpp"
#include "shared/segment/mapping.hpp"

namespace tidemark::segment {
namespace {

std::string reason_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::BadFormat:
      return "not a segment, or damaged";
    case ErrorCode::WrongVersion:
      return "made by another version of Tidemark, with a layout that this one can't read";
    default:
      return "cannot be opened";
  }
}

// Opens what a name promised and files it where it belongs.
void add(SegmentListing& listing, const std::string& path, const std::string& directory,
         const std::optional<SegmentName>& name) {
  Result<SegmentReader> reader = SegmentReader::open(path);
  if (!reader) {
    const Error error = reader.error();
    if (error.code == ErrorCode::PermissionDenied && name) {
      struct stat info {};
      const bool is_there = ::lstat(path.c_str(), &info) == 0;
      listing.unreadable.push_back({path, *name, is_there ? info.st_uid : name->uid});
    } else if (error.code != ErrorCode::NotFound && error.code != ErrorCode::PermissionDenied) {
      listing.skipped.push_back({path, error, reason_for(error)});
    }
    return;  // gone between look and open: nothing to tell
  }
  const auto is_same_file = [&](const FoundSegment& other) {
    return other.reader.device_id() == reader.value().device_id() && other.reader.inode() == reader.value().inode();
  };
  if (std::ranges::none_of(listing.segments, is_same_file)) {
    listing.segments.push_back({std::move(reader).value(), directory});
  }
}

void sort_by_creation(SegmentListing& listing) {
  std::ranges::stable_sort(listing.segments, {}, [](const FoundSegment& found) {
    return std::pair{found.reader.identity().create_realtime_ns, found.reader.identity().nonce};
  });
}

// 0: no number, as of no process.
std::int64_t number(std::string_view name) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error == std::errc{} && end == name.data() + name.size() ? value : 0;
}

bool is_number(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// "/memfd:NAME (deleted)" is what /proc shows; empty for everything else.
std::string memfd_name(const std::string& link) {
  constexpr std::string_view kStart = "/memfd:";
  constexpr std::string_view kEnd = " (deleted)";
  std::array<char, 256> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  std::string_view name{target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
  if (!name.starts_with(kStart)) {
    return {};
  }
  name.remove_prefix(kStart.size());
  if (name.ends_with(kEnd)) {
    name.remove_suffix(kEnd.size());
  }
  return std::string{name};
}

}  // namespace

SegmentListing list_segments(std::span<const std::string> directories, const IsKnown& is_known) {
  SegmentListing listing;
  for (const std::string& directory : directories) {
    for_each_entry(directory, [&](std::string_view entry) {
      if (const auto name = parse_stats_name(entry)) {
        std::string path = directory + "/" + std::string{entry};
        if (is_known && is_known(path, name->nonce)) {
          listing.known.push_back(std::move(path));
        } else {
          add(listing, path, directory, name);
        }
      }
    });
  }
  sort_by_creation(listing);
  return listing;
}

SegmentListing list_memfd_segments(const IsKnown& is_known, const std::set<std::int64_t>& left_out) {
  SegmentListing listing;
  for_each_entry("/proc", [&](std::string_view process) {
    if (const std::int64_t pid = number(process); pid <= 0 || left_out.contains(pid)) {
      return;
    }
    const std::string descriptors = "/proc/" + std::string{process} + "/fd";
    for_each_entry(descriptors, [&](std::string_view descriptor) {
      std::string link = descriptors + "/" + std::string{descriptor};
      const auto name = is_number(descriptor) ? parse_stats_name(memfd_name(link)) : std::nullopt;
      if (name && is_known && is_known(link, name->nonce)) {
        listing.known.push_back(std::move(link));
      } else if (name) {
        add(listing, link, {}, std::nullopt);
      }
    });
  });
  sort_by_creation(listing);
  return listing;
}

Result<std::string> find_control_path(const SegmentReader& reader) {
  if (!reader.identity().has_control) {
    return Error{ErrorCode::NotFound};
  }
  const std::string& path = reader.path();
  const std::size_t slash = path.rfind('/');
  if (parse_stats_name(std::string_view{path}.substr(slash + 1))) {
    return path + std::string{kControlSuffix};
  }
  const std::string wanted = memfd_name(path) + std::string{kControlSuffix};
  std::optional<std::string> found;
  for_each_entry(path.substr(0, slash), [&](std::string_view descriptor) {
    const std::string link = path.substr(0, slash + 1) + std::string{descriptor};
    if (!found && memfd_name(link) == wanted) {
      found = link;
    }
  });
  if (!found) {
    return Error{ErrorCode::NotFound};
  }
  return *found;
}

}  // namespace tidemark::segment
