// Frees, and allocates once more, when everything is already being taken down: in destructors of static objects, some
// made before the runtime's first call and some after, and in a handler of atexit.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void say(const char* what, cudaError_t result) { std::printf("%s: %s\n", what, cudaGetErrorName(result)); }

class Pool {
 public:
  explicit Pool(const char* name) : name_(name) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    std::printf("%s goes\n", name_);
    give_back();
    void* last = nullptr;
    say("malloc", cudaMalloc(&last, 2048));
    say("free", cudaFree(last));
  }

  void take(std::size_t size) {
    void* block = nullptr;
    say("malloc", cudaMalloc(&block, size));
    blocks_.push_back(block);
  }
  void give_back() {
    for (void* block : blocks_) say("free", cudaFree(block));
    blocks_.clear();
  }

 private:
  const char* name_;
  std::vector<void*> blocks_;
};

Pool early{"early"};
Pool* from_handler = nullptr;

}  // namespace

int main() {
  std::atexit([] {
    std::puts("atexit");
    from_handler->give_back();
  });
  early.take(1000);
  early.take(5 << 20);
  static Pool late{"late"};
  late.take(70'000);
  from_handler = new Pool{"handler"};
  from_handler->take(3'000'000);
  return 0;
}
