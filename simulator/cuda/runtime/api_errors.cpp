// Error names and texts, from the toolkit's list.
#include "simulator/cuda/runtime/call.hpp"

namespace {

struct ErrorEntry {
  int value;
  const char* name;
  const char* text;
};

constexpr ErrorEntry kErrors[] = {
#define X(value, name, text) {value, name, text},
#include <runtime_errors.inc>
#undef X
};

const ErrorEntry* find(cudaError_t error) {
  for (const ErrorEntry& entry : kErrors) {
    if (entry.value == static_cast<int>(error)) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace

CUDA_SIM_EXPORT const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
  const ErrorEntry* entry = find(error);
  return entry ? entry->name : "unrecognized error code";
}

CUDA_SIM_EXPORT const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
  const ErrorEntry* entry = find(error);
  return entry ? entry->text : "unrecognized error code";
}
