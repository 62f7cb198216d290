// Host memory that the CUDA driver pins: its own, and the program's.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/counted.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"

using tidemark::HostKind;
using tidemark::backend::real_cuda;
using tidemark::entry::booked;
using tidemark::entry::uncounted;
using tidemark::runtime::CudaKindCalls;
using tidemark::runtime::KindSpace;

namespace uses = tidemark::entry::uses;

extern "C" {

TIDEMARK_EXPORT CUresult cuMemHostAlloc(void** ptr, size_t size, unsigned flags) {
  uses::cuMemHostAlloc.entered();
  return booked(real_cuda().cuMemHostAlloc(ptr, size, flags),
                [&](CudaKindCalls& calls) { calls.host(HostKind::Pinned, *ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemAllocHost_v2(void** ptr, size_t size) {
  uses::cuMemAllocHost_v2.entered();
  return booked(real_cuda().cuMemAllocHost_v2(ptr, size),
                [&](CudaKindCalls& calls) { calls.host(HostKind::Pinned, *ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemFreeHost(void* ptr) {
  uses::cuMemFreeHost.entered();
  return uncounted(KindSpace::Host, ptr, [&] { return real_cuda().cuMemFreeHost(ptr); });
}

TIDEMARK_EXPORT CUresult cuMemHostRegister(void* ptr, size_t size, unsigned flags) {
  uses::cuMemHostRegister.entered();
  return booked(real_cuda().cuMemHostRegister(ptr, size, flags),
                [&](CudaKindCalls& calls) { calls.host(HostKind::Registered, ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemHostRegister_v2(void* ptr, size_t size, unsigned flags) {
  uses::cuMemHostRegister_v2.entered();
  return booked(real_cuda().cuMemHostRegister_v2(ptr, size, flags),
                [&](CudaKindCalls& calls) { calls.host(HostKind::Registered, ptr, size); });
}

TIDEMARK_EXPORT CUresult cuMemHostUnregister(void* ptr) {
  uses::cuMemHostUnregister.entered();
  return uncounted(KindSpace::Host, ptr, [&] { return real_cuda().cuMemHostUnregister(ptr); });
}

}  // extern "C"
