#include "shared/segment/segment_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "shared/base/scratch.hpp"
#include "shared/segment/file_steps.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/record_copy.hpp"

// Newer than some C libraries' headers.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1
#endif

namespace tidemark::segment {
namespace {

constexpr std::size_t kMaxControlBytes = 4096;

mode_t mode_of(Access access) {
  switch (access) {
    case Access::Owner:
      return 0400;
    case Access::Group:
      return 0440;
    case Access::All:
      return 0444;
  }
  return 0400;
}

void join(PathText& path, const char* directory, std::string_view name) {
  path.assign(directory);
  path.append("/");
  path.append(name);
}

class Creation {
 public:
  Creation(const WriterOptions& options, FillStats fill, SegmentFiles& files)
      : options_(options),
        fill_(fill),
        files_(files),
        directory_(options.directory != nullptr ? options.directory : kDefaultDirectory) {}

  ~Creation() {
    if (!finished_) {
      remove(stats_at_);
      remove(control_at_);
    }
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  Status run() {
    if (const Status checked = check(); !checked) {
      return checked;
    }
    files_.backing = options_.backing;
    files_.nonce = random_nonce();
    files_.uid = ::geteuid();
    files_.creator_pid = ::getpid();
    name_ = {.uid = files_.uid, .pid = static_cast<std::uint32_t>(files_.creator_pid), .nonce = files_.nonce};
    if (const Status made = make_stats(); !made) {
      return made;
    }
    if (options_.control != nullptr) {
      if (const Status made = make_control(); !made) {
        return made;
      }
    }
    return show_stats();
  }

 private:
  [[nodiscard]] bool is_named() const { return options_.backing == Backing::Named; }

  void report(CreationStep step) const {
    if (options_.on_step != nullptr) {
      options_.on_step(step, options_.on_step_data);
    }
  }

  static void remove(const PathText& path) {
    if (!path.empty()) {
      ::unlink(path.c_str());
    }
  }

  [[nodiscard]] Status check() const {
    const std::string_view directory{directory_};
    const bool fits = directory.starts_with('/') && directory.size() < PATH_MAX;
    const bool control_fits =
        options_.control == nullptr || (options_.control->bytes > 0 && options_.control->bytes <= kMaxControlBytes);
    if (!fits || !control_fits) {
      return Error{ErrorCode::InvalidValue, EINVAL};
    }
    return is_named() ? check_space(directory_, kSegmentBytes, kShareOfFreeSpace) : Status{};
  }

  // A new file, under its temporary name; `at` is where to remove it again.
  Result<FileHandle> create(bool control, PathText& at) {
    if (!is_named()) {
      return create_memfd((control ? control_name(name_) : stats_name(name_)).c_str());
    }
    const NameText temporary = temporary_name(files_.nonce, control);
    Result<FileHandle> file = create_file(directory_, temporary.c_str());
    if (file) {
      join(at, directory_, temporary.view());
    }
    return file;
  }

  Status show(PathText& at, std::string_view name, PathText& shown) {
    if (is_named()) {
      join(shown, directory_, name);
      if (const Status renamed = rename_to(at.c_str(), shown.c_str()); !renamed) {
        return renamed;
      }
      at = shown;
    }
    return {};
  }

  Status make_stats() {
    Result<FileHandle> file = create(false, stats_at_);
    if (!file) {
      return file.error();
    }
    stats_file_ = std::move(file).value();
    report(CreationStep::StatsCreated);

    if (const Status allocated = allocate(stats_file_.get(), kSegmentBytes); !allocated) {
      return allocated;
    }
    report(CreationStep::StatsAllocated);

    Result<Mapping> mapping = Mapping::of(stats_file_.get(), MapMode::ReadWrite, kSegmentBytes);
    const Result<FileIdentity> identity = identity_of(stats_file_.get());
    if (!mapping || !identity) {
      return mapping ? identity.error() : mapping.error();
    }
    files_.stats = std::move(mapping).value();
    files_.stats_identity = identity.value();
    report(CreationStep::StatsMapped);

    fill_({files_.stats.address(), files_.stats.size()}, files_.nonce, options_);
    report(CreationStep::StatsFilled);

    const Status locked = lock(stats_file_.get());
    if (locked) {
      report(CreationStep::StatsLocked);
    }
    return locked;
  }

  Status make_control() {
    Result<FileHandle> file = create(true, control_at_);
    if (!file) {
      return file.error();
    }
    FileHandle control = std::move(file).value();
    report(CreationStep::ControlCreated);

    const std::size_t bytes = options_.control->bytes;
    const std::span image = std::span{control_image_}.first(bytes);
    options_.control->fill(image, files_.nonce);
    if (const Status allocated = allocate(control.get(), bytes); !allocated) {
      return allocated;
    }
    if (const Status written = write_all(control.get(), image); !written) {
      return written;
    }
    Result<Mapping> mapping = Mapping::of(control.get(), MapMode::ReadOnly, bytes);
    const Result<FileIdentity> identity = identity_of(control.get());
    if (!mapping || !identity) {
      return mapping ? identity.error() : mapping.error();
    }
    files_.control = std::move(mapping).value();
    files_.control_identity = identity.value();
    if (const Status locked = lock(control.get()); !locked) {
      return locked;
    }
    if (!is_named()) {
      ::fchmod(control.get(), 0600);
      ::fcntl(control.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
      files_.control_memfd = std::move(control);
    }
    report(CreationStep::ControlFilled);

    const Status shown = show(control_at_, control_name(name_).view(), files_.control_path);
    if (shown) {
      report(CreationStep::ControlRenamed);
    }
    return shown;
  }

  Status show_stats() {
    // 0400: a viewer of the same user cannot truncate or overwrite the counters by mistake; our mapping still writes.
    if (::fchmod(stats_file_.get(), mode_of(options_.access)) != 0) {
      return system_error(errno);
    }
    if (!is_named()) {
      const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
      if (::fcntl(stats_file_.get(), F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) != 0) {
        ::fcntl(stats_file_.get(), F_ADD_SEALS, seals);
      }
      files_.stats_memfd = std::move(stats_file_);
    }
    report(CreationStep::StatsSealed);

    const Status shown = show(stats_at_, stats_name(name_).view(), files_.stats_path);
    if (shown) {
      finished_ = true;
      report(CreationStep::StatsRenamed);
    }
    return shown;
  }

  const WriterOptions& options_;
  FillStats fill_;
  SegmentFiles& files_;
  const char* directory_;
  SegmentName name_;
  FileHandle stats_file_;
  PathText stats_at_;
  PathText control_at_;
  std::array<std::byte, kMaxControlBytes> control_image_{};
  bool finished_ = false;
};

}  // namespace

Status create_files(const WriterOptions& options, FillStats fill, SegmentFiles& files) noexcept {
  const Scratch<Creation> creation{options, fill, files};
  return creation ? creation->run() : Status{system_error(ENOMEM)};
}

void remove_names(const SegmentFiles& files) noexcept {
  // The counters first: what is left of a kill in between is a control file alone, which nobody lists.
  if (!files.stats_path.empty() && leads_to(files.stats_path.c_str(), files.stats_identity)) {
    ::unlink(files.stats_path.c_str());
  }
  if (!files.control_path.empty() && leads_to(files.control_path.c_str(), files.control_identity)) {
    ::unlink(files.control_path.c_str());
  }
}

bool is_stats_name_present(const SegmentFiles& files) noexcept {
  if (files.backing == Backing::Memfd) {
    const Result<FileIdentity> identity = identity_of(files.stats_memfd.get());
    return identity.ok() && identity.value() == files.stats_identity;
  }
  return leads_to(files.stats_path.c_str(), files.stats_identity);
}

Status check_control_file(const SegmentFiles& files) noexcept {
  if (files.control.address() == nullptr) {
    return Error{ErrorCode::NotFound, ENOENT};
  }
  struct stat info {};
  const int got = files.backing == Backing::Memfd ? ::fstat(files.control_memfd.get(), &info)
                                                  : ::lstat(files.control_path.c_str(), &info);
  if (got != 0) {
    // Gone is gone. That the directory may not be looked into can pass: programs give rights up for a while.
    return errno == ENOENT ? Error{ErrorCode::NotFound, errno} : Error{ErrorCode::System, errno};
  }
  const FileIdentity identity{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
  if (!S_ISREG(info.st_mode) || identity != files.control_identity) {
    return Error{ErrorCode::BadFormat, 0};
  }
  if (info.st_uid != files.uid || (info.st_mode & 07777 & ~mode_t{0600}) != 0) {
    return Error{ErrorCode::PermissionDenied, EPERM};
  }
  return {};
}

// Through the mapping, but by the kernel: where a page was cut off, that is an error and no signal. A descriptor would
// take the program's lowest free number for a moment, and the right to open the file may be gone (setuid).
Status read_control_file(const SegmentFiles& files, std::span<std::byte> into, std::size_t offset) noexcept {
  const iovec local{.iov_base = into.data(), .iov_len = into.size()};
  const iovec mapped{.iov_base = files.control.address() + offset, .iov_len = into.size()};
  const ssize_t got = ::process_vm_readv(::getpid(), &local, 1, &mapped, 1, 0);
  if (got == static_cast<ssize_t>(into.size())) {
    return {};
  }
  const bool may_not = got < 0 && (errno == ENOSYS || errno == EPERM);  // some containers forbid it
  if (!may_not || files.backing == Backing::Memfd) {
    return Error{ErrorCode::System, got < 0 ? errno : EFAULT};
  }
  const FileHandle file{::open(files.control_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  const Result<FileIdentity> identity = identity_of(file.get());
  const bool is_read = identity && identity.value() == files.control_identity && read_exactly(file.get(), into, offset);
  return is_read ? Status{} : Status{Error{ErrorCode::System, errno}};
}

// A lock belongs to an open file, so one is needed to ask; only where a request is about to begin.
std::optional<bool> is_control_file_locked(const SegmentFiles& files, std::uint64_t offset) noexcept {
  const FileHandle file{files.backing == Backing::Memfd
                            ? ::fcntl(files.control_memfd.get(), F_DUPFD_CLOEXEC, 3)
                            : ::open(files.control_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  const Result<FileIdentity> identity = identity_of(file.get());
  return identity && identity.value() == files.control_identity ? std::optional{is_locked(file.get(), offset)}
                                                                : std::nullopt;
}

}  // namespace tidemark::segment
