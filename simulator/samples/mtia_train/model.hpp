// A decoder-only transformer: its parameters stay on the device, activations and gradients come and go.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "simulator/samples/mtia_train/device.hpp"

namespace train {

// The sizes of GPT-2 small, times a scale.
struct Shape {
  std::size_t layers = 12;
  std::size_t width = 768;
  std::size_t heads = 12;
  std::size_t vocabulary = 50'257;
  std::size_t sequence = 1024;

  static Shape scaled(double scale);
};

// Half-precision weight, and what Adam keeps beside it in single precision.
class Parameter {
 public:
  Parameter(const Stream& stream, std::mt19937& random, std::size_t elements);

  [[nodiscard]] const Tensor& weight() const { return weight_; }
  void take_gradient(const Stream& stream, const Tensor& output_gradient);
  void update(const Stream& stream);

 private:
  std::size_t elements_;
  Tensor weight_;
  Tensor master_;
  Tensor mean_;
  Tensor variance_;
  Tensor gradient_;  // from backward to update
};

class Model {
 public:
  Model(const Stream& stream, const Shape& shape, unsigned seed);

  struct Batch {
    std::size_t rows = 0;
    std::size_t sequence = 0;
    const Tensor& tokens;
  };

  // The logits. With `keep`, the activations stay until backward() has used them.
  Tensor forward(const Batch& batch, bool keep);
  void backward(const Batch& batch, Tensor logits);
  void update();

 private:
  struct Block {
    Parameter norm1, qkv, qkv_bias, projection, projection_bias;
    Parameter norm2, up, up_bias, down, down_bias;
  };
  Block make_block(std::mt19937& random) const;
  Tensor run_block(const Block& block, const Batch& batch, Tensor input, bool keep);
  Tensor apply(const Parameter& parameter, const Tensor& input, std::size_t outputs) const;

  const Stream& stream_;
  const Shape shape_;
  std::vector<Block> blocks_;
  std::vector<Parameter> ends_;  // token embedding, position embedding, final norm
  std::vector<Tensor> saved_;    // activations, in the order in which they were made
};

}  // namespace train
