/* One process exports memory in every way there is: a block by IPC, a block of a pool, physical memory, and external
 * memory. Another one imports it all, reads and writes it, and closes it. The importer is a child, forked before CUDA
 * is used; they take turns, and at "open", "closed" and "freed" both wait for a line.
 * cuda_imports [driver]: with the driver's functions alone; else with the runtime's, where it has them. */
#define _GNU_SOURCE
#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

enum { kMiB = 1 << 20, kBlock = 3 * kMiB, kPooled = kMiB, kUnit = 2 * kMiB, kFiles = 3 };

static int uses_driver;

static cudaError_t say_driver(const char* what, CUresult result) { return say(what, (cudaError_t)result); }

/* What goes from one to the other. */
struct parcel {
  cudaIpcMemHandle_t block;
  CUmemPoolPtrExportData pooled;
  int files[kFiles]; /* of the pool, the physical memory, the external memory */
};

struct carrier {
  struct iovec data;
  struct msghdr message;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int[kFiles]))];
  } rights;
};

static struct msghdr* carry(struct carrier* carrier, struct parcel* parcel) {
  memset(carrier, 0, sizeof *carrier);
  carrier->data.iov_base = parcel;
  carrier->data.iov_len = sizeof *parcel;
  carrier->message.msg_iov = &carrier->data;
  carrier->message.msg_iovlen = 1;
  carrier->message.msg_control = &carrier->rights;
  carrier->message.msg_controllen = sizeof carrier->rights;
  return &carrier->message;
}

static void send_parcel(int to, struct parcel* parcel) {
  struct carrier carrier;
  struct msghdr* message = carry(&carrier, parcel);
  struct cmsghdr* rights = CMSG_FIRSTHDR(message);
  rights->cmsg_len = CMSG_LEN(sizeof parcel->files);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  memcpy(CMSG_DATA(rights), parcel->files, sizeof parcel->files);
  if (sendmsg(to, message, 0) != (ssize_t)sizeof *parcel) exit(4);
}

static void receive_parcel(int from, struct parcel* parcel) {
  struct carrier carrier;
  struct msghdr* message = carry(&carrier, parcel);
  if (recvmsg(from, message, 0) != (ssize_t)sizeof *parcel) exit(5);
  memcpy(parcel->files, CMSG_DATA(CMSG_FIRSTHDR(message)), sizeof parcel->files);
}

/* The other one's turn, until it says that it is ours. */
static void hand_over(int socket) {
  char turn = 't';
  fflush(stdout);
  if (write(socket, &turn, 1) != 1 || read(socket, &turn, 1) != 1) exit(6);
}

static void begin(void) {
  CUcontext context = NULL;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS) {
    printf("no device\n");
    exit(3);
  }
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle) {
  CUdeviceptr at = 0;
  CUmemAccessDesc access;
  memset(&access, 0, sizeof access);
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  say_driver("reserve", cuMemAddressReserve(&at, kUnit, 0, 0, 0));
  say_driver("map", cuMemMap(at, kUnit, 0, handle, 0));
  say_driver("set access", cuMemSetAccess(at, kUnit, &access, 1));
  return at;
}

static void* as_pointer(int file) { return (void*)(intptr_t)file; }

static void tell(const char* what, CUdeviceptr at, size_t offset) {
  unsigned char byte = 0;
  say_driver("read", cuMemcpyDtoH(&byte, at + offset, 1));
  printf("byte %zu of the %s is %d\n", offset, what, byte);
}

/* The importer */

static cudaError_t open_block(CUdeviceptr* at, cudaIpcMemHandle_t handle) {
  CUipcMemHandle same;
  void* pointer = NULL;
  if (uses_driver) {
    memcpy(&same, &handle, sizeof same);
    return (cudaError_t)cuIpcOpenMemHandle(at, same, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  }
  const cudaError_t code = cudaIpcOpenMemHandle(&pointer, handle, cudaIpcMemLazyEnablePeerAccess);
  *at = (CUdeviceptr)pointer;
  return code;
}

static cudaError_t close_block(CUdeviceptr at) {
  return uses_driver ? (cudaError_t)cuIpcCloseMemHandle(at) : cudaIpcCloseMemHandle((void*)at);
}

static cudaError_t open_external(CUexternalMemory* memory, int file) {
  if (uses_driver) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC what;
    memset(&what, 0, sizeof what);
    what.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    what.handle.fd = file;
    what.size = kUnit;
    return (cudaError_t)cuImportExternalMemory(memory, &what);
  }
  struct cudaExternalMemoryHandleDesc what;
  memset(&what, 0, sizeof what);
  what.type = cudaExternalMemoryHandleTypeOpaqueFd;
  what.handle.fd = file;
  what.size = kUnit;
  return cudaImportExternalMemory((cudaExternalMemory_t*)memory, &what);
}

static cudaError_t close_external(CUexternalMemory memory) {
  return uses_driver ? (cudaError_t)cuDestroyExternalMemory(memory)
                     : cudaDestroyExternalMemory((cudaExternalMemory_t)memory);
}

static int import(int exporter) {
  struct parcel parcel;
  CUdeviceptr block = 0;
  CUdeviceptr again = 0;
  CUdeviceptr pooled = 0;
  CUdeviceptr buffer = 0;
  CUmemoryPool pool = NULL;
  CUmemGenericAllocationHandle handle = 0;
  CUexternalMemory external = NULL;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC part;
  cudaIpcMemHandle_t nonsense;
  char turn = 0;
  receive_parcel(exporter, &parcel);
  if (read(exporter, &turn, 1) != 1) return 6;
  printf("the importer's turn\n");
  begin();
  memset(&nonsense, 17, sizeof nonsense);
  say("open nonsense", open_block(&block, nonsense));
  say("open", open_block(&block, parcel.block));
  say("open again", open_block(&again, parcel.block));
  printf("the same address: %s\n", block == again ? "yes" : "no");
  say_driver("import the pool", cuMemPoolImportFromShareableHandle(&pool, as_pointer(parcel.files[0]),
                                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  say_driver("import a block of it", cuMemPoolImportPointer(&pooled, pool, &parcel.pooled));
  say_driver("import physical memory", cuMemImportFromShareableHandle(&handle, as_pointer(parcel.files[1]),
                                                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  const CUdeviceptr mapped = map(handle);
  say("import external memory", open_external(&external, parcel.files[2]));
  memset(&part, 0, sizeof part);
  part.offset = kUnit / 2;
  part.size = kUnit / 2;
  say_driver("map a part of it", cuExternalMemoryGetMappedBuffer(&buffer, external, &part));
  tell("block", block, kBlock - 1);
  tell("block of the pool", pooled, kPooled - 1);
  tell("physical memory", mapped, kUnit - 1);
  tell("external memory", buffer, 0);
  say_driver("write to the block", cuMemsetD8(block, 11, 16));
  say_driver("write to the pool's", cuMemsetD8(pooled, 12, 16));
  say_driver("write to physical memory", cuMemsetD8(mapped, 13, 16));
  say_driver("synchronize", cuCtxSynchronize());
  say_driver("free of what is to be closed", cuMemFree(block));
  hand_over(exporter);

  printf("the importer's turn\n");
  say("close", close_block(block));
  say("close", close_block(block));
  say("close once more", close_block(block));
  say_driver("free of the pool's", cuMemFree(pooled));
  say_driver("free of the external part", cuMemFree(buffer));
  say("destroy external memory", close_external(external));
  say_driver("unmap", cuMemUnmap(mapped, kUnit));
  say_driver("release", cuMemRelease(handle));
  hand_over(exporter);

  return 0;
}

/* The exporter */

static int export_file(CUmemGenericAllocationHandle handle) {
  int file = -1;
  say_driver("export physical memory",
             cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  return file;
}

static void wait_for_a_line(const char* word) {
  puts(word);
  fflush(stdout);
  for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
  }
}

static void export_all(int importer) {
  struct parcel parcel;
  void* block = NULL;
  CUdeviceptr address = 0;
  CUdeviceptr pooled = 0;
  CUmemoryPool pool = NULL;
  CUmemPoolProps of_pool;
  CUmemAllocationProp of_memory;
  CUmemGenericAllocationHandle handle = 0;
  memset(&parcel, 0, sizeof parcel);
  memset(&of_pool, 0, sizeof of_pool);
  memset(&of_memory, 0, sizeof of_memory);
  begin();
  if (uses_driver) {
    say_driver("alloc", cuMemAlloc(&address, kBlock));
    say_driver("handle", cuIpcGetMemHandle((CUipcMemHandle*)&parcel.block, address));
    block = (void*)address;
  } else {
    say("malloc", cudaMalloc(&block, kBlock));
    say("handle", cudaIpcGetMemHandle(&parcel.block, block));
    address = (CUdeviceptr)block;
  }
  of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_pool.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  of_pool.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  say_driver("pool", cuMemPoolCreate(&pool, &of_pool));
  say_driver("alloc from it", cuMemAllocFromPoolAsync(&pooled, kPooled, pool, NULL));
  say_driver("export the pool",
             cuMemPoolExportToShareableHandle(&parcel.files[0], pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  say_driver("export the block", cuMemPoolExportPointer(&parcel.pooled, pooled));
  of_memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_memory.location = of_pool.location;
  of_memory.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  say_driver("create", cuMemCreate(&handle, kUnit, &of_memory, 0));
  const CUdeviceptr mapped = map(handle);
  parcel.files[1] = export_file(handle);
  parcel.files[2] = export_file(handle);
  say_driver("memset", cuMemsetD8(address, 1, kBlock));
  say_driver("memset", cuMemsetD8(pooled, 2, kPooled));
  say_driver("memset", cuMemsetD8(mapped, 3, kUnit));
  say_driver("synchronize", cuCtxSynchronize());
  send_parcel(importer, &parcel);
  for (int i = 0; i < kFiles; ++i) close(parcel.files[i]);
  hand_over(importer);
  wait_for_a_line("open");
  hand_over(importer);
  wait_for_a_line("closed");
  tell("block", address, 0);
  tell("block of the pool", pooled, 0);
  tell("physical memory", mapped, 0);
  say("free", uses_driver ? (cudaError_t)cuMemFree(address) : cudaFree(block));
  say_driver("free of the pool's", cuMemFree(pooled));
  say_driver("destroy the pool", cuMemPoolDestroy(pool));
  say_driver("unmap", cuMemUnmap(mapped, kUnit));
  say_driver("release", cuMemRelease(handle));
  wait_for_a_line("freed");
}

int main(int argc, char** argv) {
  int ends[2];
  int status = 0;
  char turn = 't';
  uses_driver = argc > 1 && strcmp(argv[1], "driver") == 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t importer = fork();
  if (importer < 0) return 1;
  if (importer == 0) {
    close(ends[0]);
    exit(import(ends[1]));
  }
  close(ends[1]);
  export_all(ends[0]);
  if (write(ends[0], &turn, 1) != 1 || waitpid(importer, &status, 0) != importer) return 1;
  printf("the importer ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}
