/* Allocates inside a capture, in the order of its stream: memory comes with the graph's launch, and is freed by the
 * program. Waits for a line when the graph is made, when it was launched, and when the memory is freed. */
#include "tests/programs/cuda_say.h"

static void wait_for_a_line(const char* word) {
  puts(word);
  fflush(stdout);
  for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
  }
}

int main(void) {
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t executable = NULL;
  void* plain = NULL;
  void* ordered = NULL;
  void* captured = NULL;
  void* brief = NULL;
  unsigned char byte = 0;
  say("stream create", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  say("malloc", cudaMalloc(&plain, 1000));
  say("malloc in order", cudaMallocAsync(&ordered, 64 << 10, stream));
  say("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  say("malloc in the capture", cudaMallocAsync(&captured, 1 << 20, stream));
  say("malloc in the capture", cudaMallocAsync(&brief, 2 << 20, stream));
  say("memset", cudaMemsetAsync(captured, 77, 1 << 20, stream));
  say("free in the capture", cudaFreeAsync(brief, stream));
  say("end", cudaStreamEndCapture(stream, &graph));
  wait_for_a_line("captured");
  say("instantiate", cudaGraphInstantiate(&executable, graph, 0));
  say("launch", cudaGraphLaunch(executable, stream));
  say("synchronize", cudaStreamSynchronize(stream));
  say("read", cudaMemcpy(&byte, captured, 1, cudaMemcpyDeviceToHost));
  printf("the byte is %d\n", byte);
  wait_for_a_line("launched");
  say("free of the graph's", cudaFree(captured));
  say("free of it again", cudaFree(captured));
  say("free in order", cudaFreeAsync(ordered, stream));
  say("free", cudaFree(plain));
  say("destroy", cudaGraphExecDestroy(executable));
  say("destroy", cudaGraphDestroy(graph));
  wait_for_a_line("freed");
  return 0;
}
