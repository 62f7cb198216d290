#include "shared/segment/process_words.hpp"

namespace tidemark::segment {

const char* to_text(Backend backend) noexcept {
  switch (backend) {
    case Backend::Unknown:
      return "?";
    case Backend::Cuda:
      return "cuda";
    case Backend::Mtia:
      return "mtia";
  }
  return "?";
}

const char* to_text(ProcessMode mode) noexcept {
  switch (mode) {
    case ProcessMode::Unknown:
      return "?";
    case ProcessMode::Cache:
      return "cache";
    case ProcessMode::Count:
      return "count";
    case ProcessMode::Off:
      return "off";
  }
  return "?";
}

const char* to_text(Layer layer) noexcept {
  switch (layer) {
    case Layer::Undecided:
      return "";
    case Layer::Driver:
      return "driver";
    case Layer::Runtime:
      return "runtime";
    case Layer::Both:
      return "both";
  }
  return "?";
}

const char* to_text(ControlPolicy policy) noexcept {
  switch (policy) {
    case ControlPolicy::Unknown:
      return "?";
    case ControlPolicy::Off:
      return "off";
    case ControlPolicy::Peaks:
      return "peaks";
    case ControlPolicy::Full:
      return "full";
  }
  return "?";
}

const char* to_text(InnerPool pool) noexcept {
  switch (pool) {
    case InnerPool::None:
      return "";
    case InnerPool::Torch:
      return "torch";
    case InnerPool::Xla:
      return "xla";
    case InnerPool::Cupy:
      return "cupy";
    case InnerPool::Rmm:
      return "rmm";
    case InnerPool::Tensorflow:
      return "tensorflow";
  }
  return "?";
}

}  // namespace tidemark::segment
