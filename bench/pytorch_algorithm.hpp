// PyTorch's caching allocator as its documentation describes it, for what it asks of a driver: how often, and how much
// it holds. Written for clarity, not for speed; one device, one stream, one thread, no option set.
//
// Sizes are rounded to 512 B. Up to 1 MiB a request is cut from segments of 2 MiB, below 10 MiB from segments of 20
// MiB, above from a segment of its own rounded to 2 MiB; small and large segments form two pools. Of the free blocks in
// its pool a request gets the smallest that is large enough, the lowest of equals. A rest of at least 512 B in the
// small pool, of more than 1 MiB in the large one, is split off; freed blocks merge with free neighbours. Out of
// memory: every wholly free segment goes back, then once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <set>
#include <unordered_map>

namespace tidemark::bench {

class PytorchAlgorithm {
 public:
  // The driver below: null where it has no memory left.
  struct Driver {
    void* (*allocate)(std::size_t size);
    void (*release)(void* segment);
  };

  explicit PytorchAlgorithm(const Driver& driver) : driver_(driver) {}

  void* allocate(std::size_t requested);
  // Requires: `address` came from allocate().
  void release(void* address);

 private:
  struct Block {
    std::uintptr_t address = 0;
    std::size_t size = 0;
    bool is_free = false;
  };
  using Segment = std::list<Block>;  // in the order of addresses, without gaps
  struct FreeBlock {
    std::size_t size = 0;
    std::uintptr_t address = 0;
    Segment* segment = nullptr;
    Segment::iterator block{};
    bool operator<(const FreeBlock& other) const {
      return size != other.size ? size < other.size : address < other.address;
    }
  };
  using Pool = std::set<FreeBlock>;
  struct Owned {
    Segment* segment = nullptr;
    Segment::iterator block{};
    Pool* pool = nullptr;
  };

  [[nodiscard]] Pool& pool_for(std::size_t size);
  bool add_segment(Pool& pool, std::size_t size);
  void give_back_free_segments(Pool& pool);
  void set_free(Pool& pool, Segment& segment, Segment::iterator block);
  static void unset_free(Pool& pool, Segment& segment, Segment::iterator block);

  Driver driver_;
  std::list<Segment> segments_;
  Pool small_;
  Pool large_;
  std::unordered_map<std::uintptr_t, Owned> live_;
};

}  // namespace tidemark::bench
