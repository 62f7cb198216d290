/* Begins and ends a stream capture in every form that the driver has, and allocates and frees in each, as a thread in
 * relaxed mode may. */
#define __CUDA_API_VERSION_INTERNAL
#include "tests/programs/cuda_driver_say.h"

static CUgraph target;

static CUresult begin(const char* form, CUstream stream) {
  switch (form[0]) {
    case '1':
      return form[1] == 't' ? cuStreamBeginCapture_ptsz(stream) : cuStreamBeginCapture(stream);
    case '2':
      return form[1] == 't' ? cuStreamBeginCapture_v2_ptsz(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)
                            : cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    default:
      return form[1] == 't'
                 ? cuStreamBeginCaptureToGraph_ptsz(stream, target, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL)
                 : cuStreamBeginCaptureToGraph(stream, target, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL);
  }
}

static void capture(const char* form, CUstream stream) {
  CUdeviceptr before = 0;
  CUdeviceptr inside = 0;
  CUgraph graph = NULL;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  printf("form %s\n", form);
  say("alloc", cuMemAlloc_v2(&before, 4096));
  say("memset", cuMemsetD8Async(before, 1, 4096, stream));
  say("begin", begin(form, stream));
  say("free inside", cuMemFree_v2(before));
  say("alloc inside", cuMemAlloc_v2(&inside, 4096));
  say("free inside", cuMemFree_v2(inside));
  say("alloc inside", cuMemAlloc_v2(&inside, 3 << 20));
  say("is it capturing", cuStreamIsCapturing(stream, &status));
  printf("status %d\n", (int)status);
  say("end", form[1] == 't' ? cuStreamEndCapture_ptsz(stream, &graph) : cuStreamEndCapture(stream, &graph));
  printf("the graph is %s\n", graph == NULL ? "none" : graph == target ? "the given one" : "a new one");
  if (graph != NULL && graph != target) {
    say("graph destroy", cuGraphDestroy(graph));
  }
  say("free", cuMemFree_v2(inside));
}

int main(void) {
  static const char* const kForms[] = {"1", "1t", "2", "2t", "g", "gt"};
  CUcontext context = NULL;
  CUstream stream = NULL;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&context, 0));
  say("set current", cuCtxSetCurrent(context));
  say("stream create", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  say("graph create", cuGraphCreate(&target, 0));
  say("exchange the thread's mode", cuThreadExchangeStreamCaptureMode(&mode));
  for (size_t i = 0; i < sizeof kForms / sizeof *kForms; ++i) {
    capture(kForms[i], stream);
  }
  say("graph destroy", cuGraphDestroy(target));
  say("stream destroy", cuStreamDestroy_v2(stream));
  say("release", cuDevicePrimaryCtxRelease_v2(0));
  return 0;
}
