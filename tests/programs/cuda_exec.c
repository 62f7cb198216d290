/* Starts itself anew while it holds memory: each new image begins with nothing, and the old one's memory stays whole
 * where there still is an old one. cuda_exec [child|replace] (a vfork child that execs; `replace`: exec in place) */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/cuda_say.h"

static int spawn(char* program) {
  char* arguments[] = {program, "child", NULL};
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
  const char* role = argc > 1 ? argv[1] : "parent";
  const int fill = strcmp(role, "child") == 0 ? 2 : 1;
  void* block = NULL;
  unsigned char byte = 0;
  printf("%s\n", role);
  say("malloc", cudaMalloc(&block, (size_t)fill << 20));
  say("memset", cudaMemset(block, fill, (size_t)fill << 20));
  fflush(stdout);
  if (strcmp(role, "replace") == 0) {
    char* arguments[] = {argv[0], "child", NULL};
    execv("/proc/self/exe", arguments);
    return 127;
  }
  if (strcmp(role, "parent") == 0) printf("the child ended with %d\n", spawn(argv[0]));
  say("memcpy", cudaMemcpy(&byte, block, 1, cudaMemcpyDeviceToHost));
  printf("the byte is %d\n", byte);
  say("free", cudaFree(block));
  return 0;
}
