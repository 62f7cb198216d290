/* Forks before the runtime's first call, where the child is as good as any other process, and after it, where the
 * driver refuses the child and the parent doesn't notice. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

static int exit_code_of(pid_t pid) {
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int child(const char* which, void* of_parent) {
  void* mine = NULL;
  printf("%s\n", which);
  say("child: malloc", cudaMalloc(&mine, 1 << 20));
  say("child: memset", cudaMemset(mine, 1, 1 << 20));
  say("child: free of the parent's block", cudaFree(of_parent));
  say("child: free", cudaFree(mine));
  say("child: malloc and keep", cudaMalloc(&mine, 4096));
  fflush(stdout);
  return 3;
}

int main(void) {
  void* block = NULL;
  unsigned char byte = 0;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) exit(child("forked before", (void*)(size_t)0x1000));
  printf("the child ended with %d\n", exit_code_of(pid));

  say("malloc", cudaMalloc(&block, 1 << 20));
  say("memset", cudaMemset(block, 7, 1 << 20));
  fflush(stdout);
  pid = fork();
  if (pid == 0) exit(child("forked after", block));
  printf("the child ended with %d\n", exit_code_of(pid));
  say("memcpy", cudaMemcpy(&byte, block, 1, cudaMemcpyDeviceToHost));
  printf("the byte is %d\n", byte);
  say("free", cudaFree(block));
  return 0;
}
