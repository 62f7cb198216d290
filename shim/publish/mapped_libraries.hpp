// Does this process hold a library in whose presence a driver call from a background thread is dangerous?
#pragma once

namespace tidemark::publish {

// The name of one that is mapped ("libnccl", ...), or null. A cudaFree synchronises the device and its peers; while a
// collective is under way on another thread that is a deadlock (pytorch#50925, nccl#48).
[[nodiscard]] const char* find_collective_library() noexcept;

}  // namespace tidemark::publish
