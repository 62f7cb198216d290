/* Forks while it holds memory. The child has a device of its own: the parent's pointers mean nothing there, and what it
 * allocates or leaves behind does not concern the parent. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/mtia_say.h"

static int child(void* of_parent) {
  void* mine = NULL;
  int device = -1;
  say("child: get device", mtiaGetDevice(&device));
  printf("child: the device is %d\n", device);
  say("child: free of the parent's block", mtiaFree(of_parent));
  say("child: malloc", mtiaMalloc(&mine, 1 << 20));
  printf("child: its block is %s\n", mine == of_parent ? "the parent's" : "its own");
  say("child: memset", mtiaMemset(mine, 1, 1 << 20));
  say("child: free", mtiaFree(mine));
  say("child: malloc and keep", mtiaMalloc(&mine, 4096));
  fflush(stdout);
  return 3;
}

int main(void) {
  void* block = NULL;
  int status = 0;
  unsigned char byte = 0;
  say("set device", mtiaSetDevice(1));
  say("malloc", mtiaMalloc(&block, 1 << 20));
  say("memset", mtiaMemset(block, 7, 1 << 20));
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) return 1;
  if (pid == 0) exit(child(block));
  if (waitpid(pid, &status, 0) != pid) return 1;
  printf("the child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  say("memcpy", mtiaMemcpy(&byte, block, 1, mtiaMemcpyDeviceToHost));
  printf("the byte is %d\n", byte);
  say("free", mtiaFree(block));
  return 0;
}
