#include "client/library/shim.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "client/library/failure.hpp"
#include "shared/base/device_basis.hpp"

namespace tidemark::client {
namespace {

// A preloaded library is there from the beginning to the end, or never.
const ShimTable* find_table() {
  const auto function = reinterpret_cast<ShimFunction>(dlsym(RTLD_DEFAULT, kShimFunction));
  const ShimTable* const table = function == nullptr ? nullptr : function(kShimAbi);
  const bool is_usable = table != nullptr && table->abi == kShimAbi && table->bytes >= kShimFirstBytes &&
                         table->basis_words == kBasisWords;
  return is_usable ? table : nullptr;
}

}  // namespace

const ShimTable* serving_shim() {
  static const ShimTable* const table = find_table();
  return table != nullptr && table->is_served() == kShimOk ? table : nullptr;
}

void check_shim(const std::string& task, std::int64_t code) {
  switch (code) {
    case kShimNotServed:
      throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED, task + ": the library is off in this process");
    case kShimNoDevice:
      throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED, task + ": nothing was allocated on this device yet");
    case kShimInvalid:
      throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, task + ": no such thing");
    case kShimBusy:
      throw Failure(TIDEMARK_ERROR_BUSY,
                    task + ": not now: a stream capture is open, or this is a callback of the driver");
    case kShimUnsupported:
      throw Failure(TIDEMARK_ERROR_UNSUPPORTED,
                    task + ": this process has no segment with a name to put it beside (TIDEMARK_SHM, TIDEMARK_DIR)");
    case kShimNoSpace:
      throw Failure(TIDEMARK_ERROR_NO_SPACE, task + ": it would take more than its share of free space and memory");
    case kShimDriverFailed:
      throw Failure(TIDEMARK_ERROR_DRIVER, task + ": the driver refused");
    case kShimSystem:
      throw system_failure(task, errno);
    default:
      break;
  }
}

}  // namespace tidemark::client
