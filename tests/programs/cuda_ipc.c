/* One process exports a block, another one opens it: both see the same bytes. The importer is a child, forked
 * before CUDA is used; they talk through two pipes and take turns.
 * cuda_ipc [SIZE] (3145728, which has a base address of its own whoever hands it out) */
#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

static void send(int to, const void* bytes, size_t size) {
  if (write(to, bytes, size) != (ssize_t)size) exit(4);
}
static void receive(int from, void* bytes, size_t size) {
  if (read(from, bytes, size) != (ssize_t)size) exit(5);
}

static int import(int from, int to, size_t size) {
  cudaIpcMemHandle_t handle;
  void* block = NULL;
  void* again = NULL;
  unsigned char byte = 0;
  int usable = 0;
  receive(from, &usable, sizeof(usable));
  if (!usable) return 0;
  receive(from, &handle, sizeof(handle));
  say("importer: open", cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess));
  say("importer: open again", cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
  printf("importer: the same address: %s\n", block == again ? "yes" : "no");
  say("importer: read", cudaMemcpy(&byte, (char*)block + size - 1, 1, cudaMemcpyDeviceToHost));
  printf("importer: the last byte is %d\n", byte);
  say("importer: write", cudaMemset(block, 42, size / 2));
  say("importer: synchronize", cudaDeviceSynchronize());
  say("importer: free", cudaFree(block));
  say("importer: close", cudaIpcCloseMemHandle(block));
  say("importer: close", cudaIpcCloseMemHandle(block));
  say("importer: close once more", cudaIpcCloseMemHandle(block));
  fflush(stdout);
  send(to, "k", 1);
  return 0;
}

static int export_block(int from, int to, size_t size) {
  cudaIpcMemHandle_t handle;
  cudaIpcMemHandle_t of_inside;
  void* block = NULL;
  void* opened = NULL;
  unsigned char byte = 0;
  char done = 0;
  say_of("malloc", size, cudaMalloc(&block, size));
  say("memset", cudaMemset(block, 7, size));
  say("synchronize", cudaDeviceSynchronize());
  const int usable = say("handle", cudaIpcGetMemHandle(&handle, block)) == cudaSuccess;
  fflush(stdout);
  send(to, &usable, sizeof(usable));
  if (usable) {
    say("handle of an inner address", cudaIpcGetMemHandle(&of_inside, (char*)block + size / 2));
    printf("the same handle: %s\n", memcmp(&handle, &of_inside, sizeof(handle)) == 0 ? "yes" : "no");
    say("open in the same process", cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
    fflush(stdout);
    send(to, &handle, sizeof(handle));
    receive(from, &done, 1);
  }
  say("read", cudaMemcpy(&byte, block, 1, cudaMemcpyDeviceToHost));
  printf("the first byte is %d\n", byte);
  say("free", cudaFree(block));
  return 0;
}

int main(int argc, char** argv) {
  const size_t size = argc > 1 ? strtoull(argv[1], NULL, 10) : 3145728;
  int there[2];
  int back[2];
  int status = 0;
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  const pid_t pid = fork();
  if (pid == 0) exit(import(there[0], back[1], size));
  const int code = export_block(back[0], there[1], size);
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
  printf("the importer ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return code;
}
