/* Streams of all kinds, events, host functions: order is kept where it is promised. */
#include "tests/programs/cuda_say.h"

static void note(void* seen) { *(int*)seen = 1; }

static void call_runtime(void* result) { *(cudaError_t*)result = cudaStreamQuery(NULL); }

static void callback(cudaStream_t stream, cudaError_t status, void* seen) {
  (void)stream;
  *(int*)seen = status == cudaSuccess ? 2 : 3;
}

int main(void) {
  enum { kSize = 1 << 16 };
  cudaStream_t one = NULL;
  cudaStream_t two = NULL;
  cudaStream_t free_one = NULL;
  cudaEvent_t event = NULL;
  cudaEvent_t start = NULL;
  void* a = NULL;
  void* b = NULL;
  unsigned char* pinned = NULL;
  unsigned char byte = 0;
  float milliseconds = -1;
  int seen = 0;
  int least = 0;
  int greatest = 0;
  int priority = 0;
  unsigned int flags = 0;
  cudaError_t inside = cudaSuccess;
  cudaMalloc(&a, kSize);
  cudaMalloc(&b, kSize);
  cudaMallocHost((void**)&pinned, kSize);
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  say("stream create", cudaStreamCreate(&one));
  say("stream with a priority", cudaStreamCreateWithPriority(&two, cudaStreamDefault, greatest));
  say("non-blocking stream", cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
  say("priority", cudaStreamGetPriority(two, &priority));
  printf("it is the greatest: %s\n", priority == greatest && greatest < least ? "yes" : "no");
  say("flags", cudaStreamGetFlags(free_one, &flags));
  printf("flags %u\n", flags);
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

  say("set in one", cudaMemsetAsync(a, 1, kSize, one));
  say("copy in the default stream", cudaMemcpyAsync(b, a, kSize, cudaMemcpyDeviceToDevice, NULL));
  say("set in two", cudaMemsetAsync(a, 2, kSize, two));
  say("record in two", cudaEventRecord(event, two));
  say("wait in the non-blocking one", cudaStreamWaitEvent(free_one, event, 0));
  say("copy to pinned memory there", cudaMemcpyAsync(pinned, a, kSize, cudaMemcpyDeviceToHost, free_one));
  say("host function in two", cudaLaunchHostFunc(two, note, &seen));
  say("synchronize the non-blocking one", cudaStreamSynchronize(free_one));
  printf("pinned memory has %d\n", pinned[kSize - 1]);
  say("query the event", cudaEventQuery(event));
  say("read", cudaMemcpy(&byte, b, 1, cudaMemcpyDeviceToHost));
  printf("the copy has %d\n", byte);
  say("synchronize two", cudaStreamSynchronize(two));
  printf("the host function was %s\n", seen ? "called" : "not called");

  say("callback", cudaStreamAddCallback(one, callback, &seen, 0));
  say("synchronize the device", cudaDeviceSynchronize());
  printf("the callback saw %s\n", seen == 2 ? "success" : "something else");
  say("a host function that calls the runtime", cudaLaunchHostFunc(one, call_runtime, &inside));
  say("synchronize one", cudaStreamSynchronize(one));
  say("it was told", inside);

  say("record", cudaEventRecord(start, one));
  say("elapsed with an event without timing", cudaEventElapsedTime(&milliseconds, start, event));
  say("elapsed", cudaEventElapsedTime(&milliseconds, start, start));
  printf("%.0f ms\n", (double)milliseconds);
  say("per-thread stream", cudaMemsetAsync(a, 5, kSize, cudaStreamPerThread));
  say("synchronize it", cudaStreamSynchronize(cudaStreamPerThread));
  say("read", cudaMemcpy(&byte, a, 1, cudaMemcpyDeviceToHost));
  printf("it has %d\n", byte);

  cudaEventDestroy(event);
  cudaEventDestroy(start);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  cudaStreamDestroy(free_one);
  cudaFreeHost(pinned);
  say("free", cudaFree(a));
  say("free", cudaFree(b));
  return 0;
}
