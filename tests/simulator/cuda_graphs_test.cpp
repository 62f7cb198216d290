// Graphs of the simulated CUDA driver: captured or made node by node, and launched again and again.
#include <array>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;

class CudaGraphs : public cuda_test::Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    one = stream();
  }
  void begin() const { EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS); }
  CUgraphExec finish(unsigned long long flags = 0) const {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(one, &graph), CUDA_SUCCESS);
    return ready(graph, flags);
  }
  static CUgraphExec ready(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, flags), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    return executable;
  }
  static cuuint64_t used(CUgraphMem_attribute which = CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) {
    cuuint64_t value = 0;
    EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, which, &value), CUDA_SUCCESS);
    return value;
  }

  CUstream one = nullptr;
};

TEST_F(CudaGraphs, DoWhatWasCapturedAtEachLaunch) {
  const CUdeviceptr block = take(16);
  std::array<unsigned char, 16> host{};
  int calls = 0;
  begin();
  host.fill(4);
  EXPECT_EQ(cuMemcpyHtoDAsync(block, host.data(), 16, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(block, 9, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(
                one, [](void* count) { ++*static_cast<int*>(count); }, &calls),
            CUDA_SUCCESS);
  const CUgraphExec executable = finish();
  EXPECT_EQ(calls, 0);

  host.fill(5);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(block), 9);
  EXPECT_EQ(byte_of(block + 1), 5) << "the source is read at the launch";
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);

  EXPECT_EQ(calls, 2);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(CudaGraphs, TakeMemoryFromTheLaunchToTheFree) {
  CUdeviceptr inside = 0;
  begin();
  EXPECT_EQ(cuMemAllocAsync(&inside, 3 * kMiB, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(inside, 6, 3 * kMiB, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(inside, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(inside, one), CUDA_ERROR_INVALID_VALUE);
  const CUgraphExec executable = finish();
  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuMemFree(inside), CUDA_ERROR_INVALID_VALUE) << "an address without memory";

  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
    EXPECT_EQ(used(), 3 * kMiB);
    EXPECT_EQ(free_bytes(), kCapacity - 3 * kMiB);
    EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
    EXPECT_EQ(used(), 0u);
    EXPECT_EQ(free_bytes(), kCapacity);
  }
  EXPECT_EQ(used(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 3 * kMiB);
  cuuint64_t zero = 0;
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero), CUDA_SUCCESS);
  EXPECT_EQ(used(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0u);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(CudaGraphs, DoNothingInALaunchThatFindsNoMemory) {
  const CUdeviceptr block = take(16);
  CUdeviceptr small = 0;
  CUdeviceptr large = 0;
  EXPECT_EQ(cuMemsetD8(block, 1, 16), CUDA_SUCCESS);
  begin();
  EXPECT_EQ(cuMemsetD8Async(block, 9, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocAsync(&small, kMiB, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocAsync(&large, kCapacity, one), CUDA_SUCCESS);
  const CUgraphExec executable = finish();

  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_ERROR_OUT_OF_MEMORY);

  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(block), 1);
  EXPECT_EQ(used(), 0U);
}

TEST_F(CudaGraphs, LeaveMemoryToTheProgramThatTheyDontFree) {
  CUdeviceptr inside = 0;
  begin();
  EXPECT_EQ(cuMemAllocAsync(&inside, kMiB, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(inside, 6, kMiB, one), CUDA_SUCCESS);
  const CUgraphExec executable = finish();

  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(inside + kMiB - 1), 6);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_ERROR_INVALID_VALUE) << "it is still there";
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(inside)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(inside, kMiB), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(inside, kMiB), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(inside), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(inside, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(CudaGraphs, MayFreeOnLaunchWhatTheLastLaunchLeft) {
  CUdeviceptr inside = 0;
  begin();
  EXPECT_EQ(cuMemAllocAsync(&inside, kMiB, one), CUDA_SUCCESS);
  const CUgraphExec executable = finish(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);

  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity - kMiB);
  EXPECT_EQ(cuMemFree(inside), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(CudaGraphs, DontFreeOrdinaryMemory) {
  const CUdeviceptr block = take(512);
  begin();

  EXPECT_EQ(cuMemFreeAsync(block, one), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(cuGraphExecDestroy(finish()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

#if CUDA_VERSION >= 12000
TEST_F(CudaGraphs, TakeKernelsAndSayHowTheyBecameReady) {
  CUmodule module = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  CUDA_KERNEL_NODE_PARAMS kernel{};
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  how.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  EXPECT_EQ(cuModuleLoadData(&module, "image"), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleGetFunction(&kernel.func, module, "any"), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), CUDA_SUCCESS);

  EXPECT_EQ(cuGraphInstantiateWithParams(&executable, graph, &how), CUDA_SUCCESS);
  EXPECT_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one), CUDA_ERROR_NOT_READY);

  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}
#endif

TEST_F(CudaGraphs, AreMadeNodeByNode) {
  CUgraph graph = nullptr;
  CUgraph other = nullptr;
  EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS memory{};
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  memory.bytesize = 4096;
  CUgraphNode taken = nullptr;
  EXPECT_EQ(cuGraphAddMemAllocNode(&taken, graph, nullptr, 0, &memory), CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = memory.dptr;
  fill.value = 3;
  fill.elementSize = 1;
  fill.width = 4096;
  fill.height = 1;
  CUgraphNode filled = nullptr;
  EXPECT_EQ(cuGraphAddMemsetNode(&filled, other, &taken, 1, &fill, context), CUDA_ERROR_INVALID_VALUE)
      << "after a node of another graph";
  EXPECT_EQ(cuGraphAddMemsetNode(&filled, graph, &taken, 1, &fill, context), CUDA_SUCCESS);
  std::size_t count = 0;
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(cuGraphNodeGetType(filled, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);

  const CUgraphExec executable = ready(graph);
  EXPECT_EQ(cuGraphLaunch(executable, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(memory.dptr + 4095), 3);

  EXPECT_EQ(cuMemFree(memory.dptr), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddMemFreeNode(&taken, other, nullptr, 0, 512), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
}

}  // namespace
