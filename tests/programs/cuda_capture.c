/* Allocates and frees around and inside a stream capture that allows it, and asks how the capture is. */
#include "tests/programs/cuda_say.h"

static void ask(cudaStream_t stream) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  say("is it capturing", cudaStreamIsCapturing(stream, &status));
  printf("status %d\n", (int)status);
}

int main(void) {
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  void* before = NULL;
  void* inside = NULL;
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  say("stream create", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  say("malloc", cudaMalloc(&before, 4096));
  say("begin on the default stream", cudaStreamBeginCapture(NULL, cudaStreamCaptureModeRelaxed));
  say("exchange the thread's mode", cudaThreadExchangeStreamCaptureMode(&mode));
  say("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ask(stream);
  say("memset", cudaMemsetAsync(before, 1, 4096, stream));
  say("malloc inside", cudaMalloc(&inside, 4096));
  say("free inside", cudaFree(inside));
  say("malloc inside", cudaMalloc(&inside, 3 << 20));
  say("end", cudaStreamEndCapture(stream, &graph));
  printf("there is a graph: %s\n", graph != NULL ? "yes" : "no");
  ask(stream);
  say("graph destroy", cudaGraphDestroy(graph));
  say("exchange it back", cudaThreadExchangeStreamCaptureMode(&mode));
  say("end without a beginning", cudaStreamEndCapture(stream, &graph));
  say("free", cudaFree(inside));
  say("free", cudaFree(before));
  say("stream destroy", cudaStreamDestroy(stream));
  return 0;
}
