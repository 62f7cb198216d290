/* Replaces itself while it holds memory, twice by exec and once through a vfork child: each new image starts from
 * nothing. cuda_exec [STEP] */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

static int spawn(char* program) {
  char* arguments[] = {program, "3", NULL};
  int status = 0;
  const pid_t pid = vfork();
  if (pid == 0) {
    execv("/proc/self/exe", arguments);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  const int step = argc > 1 ? atoi(argv[1]) : 1;
  void* block = NULL;
  unsigned char byte = 0;
  printf("step %d\n", step);
  say("malloc", cudaMalloc(&block, (size_t)step << 20));
  say("memset", cudaMemset(block, step, (size_t)step << 20));
  fflush(stdout);
  if (step == 1) {
    char* arguments[] = {argv[0], "2", NULL};
    execv("/proc/self/exe", arguments);
    return 127;
  }
  if (step == 2) printf("the vfork child ended with %d\n", spawn(argv[0]));
  say("memcpy", cudaMemcpy(&byte, block, 1, cudaMemcpyDeviceToHost));
  printf("the byte is %d\n", byte);
  say("free", cudaFree(block));
  return 0;
}
