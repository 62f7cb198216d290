// An array in pages of its own, which grows by moving them: the host's malloc may be what is being waited for, hooked
// or broken. Elements are zero when first reached. Growing moves the array: hold no reference across grow_to().
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

namespace tidemark::alloc {

// Null without memory; `old` stays valid then. `old_size` 0: a new mapping. Sizes in bytes, rounded up to whole pages
// by the caller.
[[nodiscard]] void* move_pages(void* old, std::size_t old_size, std::size_t new_size) noexcept;
void unmap_pages(void* pages, std::size_t size) noexcept;

template <class T>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<T>, "moved by the kernel");

 public:
  constexpr MappedArray() = default;
  ~MappedArray() {
    if (data_ != nullptr) {
      unmap_pages(data_, bytes_);
    }
  }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;

  [[nodiscard]] std::size_t capacity() const { return bytes_ / sizeof(T); }
  [[nodiscard]] T& operator[](std::size_t index) { return data_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return data_[index]; }

  // At least doubles, so that growing costs little per element. False: no memory, nothing changed.
  [[nodiscard]] bool grow_to(std::size_t count) noexcept {
    if (count <= capacity()) {
      return true;
    }
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T) / 4) {
      return false;
    }
    std::size_t wanted = bytes_ == 0 ? kFirstBytes : bytes_ * 2;
    while (wanted < count * sizeof(T)) {
      wanted *= 2;
    }
    void* moved = move_pages(data_, bytes_, wanted);
    if (moved == nullptr) {
      return false;
    }
    data_ = static_cast<T*>(moved);
    bytes_ = wanted;
    return true;
  }

  void swap(MappedArray& other) noexcept {
    T* const data = data_;
    const std::size_t bytes = bytes_;
    data_ = other.data_;
    bytes_ = other.bytes_;
    other.data_ = data;
    other.bytes_ = bytes;
  }

 private:
  static constexpr std::size_t kFirstBytes = 64 << 10;  // untouched pages cost nothing

  T* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tidemark::alloc
