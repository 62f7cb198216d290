// Frees, and allocates once more, when everything is already being taken down: in destructors of static objects, some
// made before the driver's first call and some after.
#include <mtia.h>

#include <cstdio>
#include <vector>

namespace {

void say(const char* what, mtiaResult_t result) { std::printf("%s: %s\n", what, mtiaGetErrorName(result)); }

class Pool {
 public:
  explicit Pool(const char* name) : name_(name) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    std::printf("%s goes\n", name_);
    for (void* block : blocks_) say("free", mtiaFree(block));
    void* last = nullptr;
    say("malloc", mtiaMalloc(&last, 2048));
    say("free", mtiaFree(last));
  }

  void take(std::size_t size) {
    void* block = nullptr;
    say("malloc", mtiaMalloc(&block, size));
    blocks_.push_back(block);
  }

 private:
  const char* name_;
  std::vector<void*> blocks_;
};

Pool early{"early"};

}  // namespace

int main() {
  early.take(1000);
  early.take(5 << 20);
  static Pool late{"late"};
  late.take(70'000);
  return 0;
}
