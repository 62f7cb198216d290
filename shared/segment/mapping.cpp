#include "shared/segment/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/permissions.hpp>
#include <boost/interprocess/shared_memory_object.hpp>
#include <cerrno>
#include <new>
#include <string>
#include <string_view>

#include "shared/segment/names.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace tidemark::segment {
namespace {

namespace bip = boost::interprocess;

// Lets mapped_region map a descriptor of ours. Boost's file_mapping would open the file a second time by name, without
// O_CLOEXEC and O_NOFOLLOW.
class BorrowedDescriptor {
 public:
  explicit BorrowedDescriptor(int fd) : fd_(fd) {}
  [[nodiscard]] bip::mapping_handle_t get_mapping_handle() const {
    return bip::ipcdetail::mapping_handle_from_file_handle(fd_);
  }

 private:
  int fd_;
};

// Calls `body` and turns what Boost throws into an error.
template <class Body>
auto without_exceptions(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const bip::interprocess_exception& failure) {
    return system_error(failure.get_native_error());
  } catch (const std::bad_alloc&) {
    return system_error(ENOMEM);
  } catch (...) {
    return system_error(0);
  }
}

// A program that closed its standard files may still write to them, and expects no more than an error.
constexpr int kLowestDescriptor = STDERR_FILENO + 1;

bool is_shared_memory_directory(std::string_view directory) {
  while (directory.size() > 1 && directory.ends_with('/')) {
    directory.remove_suffix(1);
  }
  return directory == kDefaultDirectory;
}

}  // namespace

Error system_error(int error_number) noexcept {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS:
      return {ErrorCode::PermissionDenied, error_number};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return {ErrorCode::NoSpace, error_number};
    case ENOENT:
    case ENOTDIR:
      return {ErrorCode::NotFound, error_number};
    case EINVAL:
    case ENAMETOOLONG:
      return {ErrorCode::InvalidValue, error_number};
    default:
      return {ErrorCode::System, error_number};
  }
}

Result<FileHandle> create_file(const char* directory, const char* name) noexcept {
  return without_exceptions([&]() -> Result<FileHandle> {
    if (is_shared_memory_directory(directory)) {
      bip::permissions owner_only;
      owner_only.set_permissions(0600);  // Boost's default is 0644, whatever the umask
      const bip::shared_memory_object object{bip::create_only, name, bip::read_write, owner_only};
      // The object closes its own descriptor; a duplicate is the same description, so locks and mapping are unaffected.
      const int fd = ::fcntl(object.get_mapping_handle().handle, F_DUPFD_CLOEXEC, kLowestDescriptor);
      if (fd < 0) {
        const Error error = system_error(errno);
        bip::shared_memory_object::remove(name);
        return error;
      }
      return FileHandle{fd};
    }
    const std::string path = std::string{directory} + "/" + name;
    FileHandle file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file) {
      return system_error(errno);
    }
    if (file.get() < kLowestDescriptor) {
      file = FileHandle{::fcntl(file.get(), F_DUPFD_CLOEXEC, kLowestDescriptor)};
    }
    if (!file) {
      const Error error = system_error(errno);
      ::unlink(path.c_str());
      return error;
    }
    return file;
  });
}

struct Mapping::Region {
  bip::mapped_region region;
};

Mapping::Mapping() noexcept = default;
Mapping::Mapping(Mapping&&) noexcept = default;
Mapping& Mapping::operator=(Mapping&&) noexcept = default;
Mapping::~Mapping() = default;
Mapping::Mapping(std::unique_ptr<Region> region) noexcept : region_(std::move(region)) {}

Result<Mapping> Mapping::of(int fd, MapMode mode, std::size_t bytes, std::uint64_t offset) noexcept {
  return without_exceptions([&]() -> Result<Mapping> {
    const auto boost_mode = mode == MapMode::ReadOnly ? bip::read_only : bip::read_write;
    auto region = std::make_unique<Region>(
        Region{bip::mapped_region{BorrowedDescriptor{fd}, boost_mode, static_cast<bip::offset_t>(offset), bytes}});
    void* const address = region->region.get_address();
    // A forked child that had the mapping would keep its parent's lock, and so its life, alive.
    if (::madvise(address, bytes, MADV_DONTFORK) != 0) {
      return system_error(errno);
    }
    // The first store must not be the one that finds out that there is no page for it (SIGBUS). Older kernels don't
    // know the advice; there the space was allocated beforehand, which is enough.
    if (mode == MapMode::ReadWrite && ::madvise(address, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
      return Error{ErrorCode::NoSpace, errno};
    }
    return Mapping{std::move(region)};
  });
}

std::byte* Mapping::address() const noexcept {
  return region_ ? static_cast<std::byte*>(region_->region.get_address()) : nullptr;
}

std::size_t Mapping::size() const noexcept { return region_ ? region_->region.get_size() : 0; }

}  // namespace tidemark::segment
