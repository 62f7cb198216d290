// Modules and kernels as handles. An image is not looked into: any name is a kernel, no name is a variable. A launch
// takes its time on the clock and computes nothing. Any thread may call.
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>
#include <string>

namespace cuda_sim {

class Modules {
 public:
  CUmodule load();
  bool unload(CUmodule module);  // false: no such module. Its kernels are gone
  // NULL: no such module. The same name gives the same kernel.
  CUfunction kernel(CUmodule module, const std::string& name);
  [[nodiscard]] bool has(CUmodule module) const;
  [[nodiscard]] bool has(CUfunction kernel) const;

 private:
  mutable std::mutex mutex_;
  std::uintptr_t last_handle_ = 0x5D50'0000'0000'0000;  // no address
  std::map<CUmodule, std::map<std::string, CUfunction>> modules_;
};

}  // namespace cuda_sim
