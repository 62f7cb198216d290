#include "shim/alloc/mapped_array.hpp"

#include <sys/mman.h>

namespace tidemark::alloc {

void* move_pages(void* old, std::size_t old_size, std::size_t new_size) noexcept {
  void* pages = old_size == 0 ? ::mmap(nullptr, new_size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                              : ::mremap(old, old_size, new_size, MREMAP_MAYMOVE);
  return pages == MAP_FAILED ? nullptr : pages;
}

void unmap_pages(void* pages, std::size_t size) noexcept { ::munmap(pages, size); }

}  // namespace tidemark::alloc
