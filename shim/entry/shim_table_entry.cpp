// The one name of ours that is no driver's: how the client library finds us in its process.
#include "shared/base/shim_table.hpp"

#include "shim/entry/export.hpp"
#include "shim/runtime/program_api.hpp"

extern "C" {

TIDEMARK_EXPORT const tidemark::ShimTable* tidemark_shim_v1(std::uint32_t abi);

const tidemark::ShimTable* tidemark_shim_v1(std::uint32_t abi) { return tidemark::runtime::shim_table(abi); }

}  // extern "C"
