/* Frees in the order of streams that cannot take them: the block is still there afterwards. */
#include "tests/programs/cuda_say.h"

int main(void) {
  cudaStream_t destroyed = NULL;
  cudaStream_t capturing = NULL;
  cudaGraph_t graph = NULL;
  void* small = NULL;
  void* large = NULL;
  say("malloc", cudaMalloc(&small, 1000));
  say("malloc", cudaMalloc(&large, 3 << 20));

  say("stream create", cudaStreamCreate(&destroyed));
  say("stream destroy", cudaStreamDestroy(destroyed));
  say("free async in it", cudaFreeAsync(small, destroyed));
  say("last error", cudaGetLastError());
  say("free async in it", cudaFreeAsync(large, destroyed));
  say("last error", cudaGetLastError());
  say("memset", cudaMemset(small, 1, 1000));

  say("stream create", cudaStreamCreate(&capturing));
  say("begin capture", cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
  say("free async in it", cudaFreeAsync(small, capturing));
  say("last error", cudaGetLastError());
  say("end capture", cudaStreamEndCapture(capturing, &graph));
  say("free async after it", cudaFreeAsync(small, capturing));
  say("synchronize", cudaStreamSynchronize(capturing));

  say("free", cudaFree(large));
  say("free again", cudaFree(large));
  return 0;
}
