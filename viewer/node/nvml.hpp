// NVIDIA's management library, if this machine has one: what each GPU's memory is used for, whoever uses it.
//
// Nothing here throws, and no answer of the library's ends anything: without it, or with one that fails, there is a
// reason instead. A call may take seconds (a driver that wakes its GPUs) or never return; NodeWatch keeps that away.
#pragma once

#include "viewer/model/node_fact.hpp"
#include "viewer/node/nvml_abi.hpp"

#include <functional>
#include <string>

namespace tidemark::viewer {

class Nvml {
 public:
  // A function of the library by its name; null: it has none.
  using Find = std::function<void*(const char*)>;

  // Initialises what `find` leads to.
  explicit Nvml(const Find& find);
  // libnvidia-ml.so.1 as the loader finds it. It is never closed: the process ends with it.
  [[nodiscard]] static Nvml open();

  [[nodiscard]] NodeFacts look() const;

 private:
  Nvml() = default;
  [[nodiscard]] std::string text_of(nvml::Code code) const;
  void add_device(NodeFacts& facts, nvml::Device device, std::uint32_t index) const;
  bool add_slices(NodeFacts& facts, nvml::Device device, const NodeFact& whole) const;
  [[nodiscard]] NodeFact fact_of(nvml::Device device, std::uint32_t index) const;
  void read_memory(nvml::Device device, NodeFact& fact) const;

  nvml::Functions functions_;
  std::string trouble_;
};

}  // namespace tidemark::viewer
