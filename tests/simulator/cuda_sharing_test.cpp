// Memory that goes by descriptor from one process to another in the simulated CUDA driver: handles, pools, external
// memory. The importer is a child, forked before CUDA is used.
#include <cuda.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace {

constexpr std::size_t kUnit = std::size_t{2} << 20;
constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

struct Message {
  CUmemPoolPtrExportData pointer{};
  int fds[2] = {-1, -1};  // the handle's and the pool's
};

union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(Message::fds))];
};

msghdr carrier(iovec& data, Control& control) {
  msghdr carrying{};
  carrying.msg_iov = &data;
  carrying.msg_iovlen = 1;
  carrying.msg_control = &control;
  carrying.msg_controllen = sizeof control;
  return carrying;
}

bool send(int to, Message& message) {
  Control control{};
  iovec data{&message.pointer, sizeof message.pointer};
  msghdr carrying = carrier(data, control);
  cmsghdr* rights = CMSG_FIRSTHDR(&carrying);
  *rights = {.cmsg_len = CMSG_LEN(sizeof message.fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(rights), message.fds, sizeof message.fds);
  return sendmsg(to, &carrying, 0) == static_cast<ssize_t>(sizeof message.pointer);
}

bool receive(int from, Message& message) {
  Control control{};
  iovec data{&message.pointer, sizeof message.pointer};
  msghdr carrying = carrier(data, control);
  if (recvmsg(from, &carrying, 0) != static_cast<ssize_t>(sizeof message.pointer)) return false;
  std::memcpy(message.fds, CMSG_DATA(CMSG_FIRSTHDR(&carrying)), sizeof message.fds);
  return true;
}

void* as_pointer(int fd) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)); }

bool begin() {
  CUcontext context = nullptr;
  return cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
         cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

CUdeviceptr map(CUmemGenericAllocationHandle handle) {
  CUdeviceptr at = 0;
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(cuMemAddressReserve(&at, kUnit, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(at, kUnit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetAccess(at, kUnit, &access, 1), CUDA_SUCCESS);
  return at;
}

int byte_of(CUdeviceptr at) {
  unsigned char byte = 0;
  return cuMemcpyDtoH(&byte, at, 1) == CUDA_SUCCESS ? byte : -1;
}

// 0, or the number of the step that went wrong.
int import_all(int from) {
  Message message;
  if (!receive(from, message) || !begin()) return 1;
  CUmemGenericAllocationHandle handle = 0;
  if (cuMemImportFromShareableHandle(&handle, as_pointer(message.fds[0]), kDescriptor) != CUDA_SUCCESS) return 2;
  const CUdeviceptr at = map(handle);
  if (byte_of(at + kUnit - 1) != 7) return 3;
  std::size_t free = 0;
  std::size_t total = 0;
  if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || free != total) return 4;  // it is the exporter's
  if (cuMemsetD8(at, 9, 16) != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS) return 5;

  CUDA_EXTERNAL_MEMORY_HANDLE_DESC external{};
  external.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  external.handle.fd = message.fds[0];
  external.size = kUnit;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{};
  part.offset = kUnit / 2;
  part.size = kUnit / 2;
  CUexternalMemory memory = nullptr;
  CUdeviceptr buffer = 0;
  if (cuImportExternalMemory(&memory, &external) != CUDA_SUCCESS) return 6;
  if (cuExternalMemoryGetMappedBuffer(&buffer, memory, &part) != CUDA_SUCCESS || byte_of(buffer) != 7) return 7;
  if (cuMemFree(buffer) != CUDA_SUCCESS) return 8;

  CUmemoryPool pool = nullptr;
  CUdeviceptr block = 0;
  if (cuMemPoolImportFromShareableHandle(&pool, as_pointer(message.fds[1]), kDescriptor, 0) != CUDA_SUCCESS) return 9;
  if (cuMemPoolImportPointer(&block, pool, &message.pointer) != CUDA_SUCCESS || byte_of(block + 4095) != 8) return 10;
  if (cuMemFreeAsync(block, nullptr) != CUDA_SUCCESS || cuMemFree(block) != CUDA_ERROR_INVALID_VALUE) return 11;

  if (cuMemUnmap(at, kUnit) != CUDA_SUCCESS || cuMemRelease(handle) != CUDA_SUCCESS) return 12;
  return 0;
}

TEST(CudaSharing, ShowsAnotherProcessTheSameBytes) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t importer = fork();
  ASSERT_GE(importer, 0);
  if (importer == 0) _exit(import_all(ends[1]));
  close(ends[1]);
  ASSERT_TRUE(begin());
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.requestedHandleTypes = kDescriptor;
  CUmemPoolProps what{};
  what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location = properties.location;
  what.handleTypes = kDescriptor;
  CUmemGenericAllocationHandle handle = 0;
  CUmemoryPool pool = nullptr;
  CUdeviceptr block = 0;
  Message message;
  EXPECT_EQ(cuMemCreate(&handle, kUnit, &properties, 0), CUDA_SUCCESS);
  const CUdeviceptr at = map(handle);
  EXPECT_EQ(cuMemsetD8(at, 7, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolCreate(&pool, &what), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&block, 4096, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(block, 8, 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemExportToShareableHandle(&message.fds[0], handle, kDescriptor, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&message.fds[1], pool, kDescriptor, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolExportPointer(&message.pointer, block), CUDA_SUCCESS);

  EXPECT_TRUE(send(ends[0], message));
  int status = -1;
  EXPECT_EQ(waitpid(importer, &status, 0), importer);

  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step of the importer that went wrong";
  EXPECT_EQ(byte_of(at + 15), 9);
  EXPECT_EQ(byte_of(at + 16), 7);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  for (const int fd : {message.fds[0], message.fds[1], ends[0]}) close(fd);
}

}  // namespace
