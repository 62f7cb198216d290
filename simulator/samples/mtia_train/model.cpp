#include "simulator/samples/mtia_train/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace train {
namespace {

constexpr std::size_t kHalf = 2;    // bytes
constexpr std::size_t kSingle = 4;  // bytes
constexpr std::size_t kHeadWidth = 64;

std::size_t to_multiple(double value, std::size_t step) {
  return std::max(step, static_cast<std::size_t>(std::lround(value / static_cast<double>(step))) * step);
}

}  // namespace

Shape Shape::scaled(double scale) {
  const Shape full;
  Shape shape;
  shape.width = to_multiple(static_cast<double>(full.width) * scale, kHeadWidth);
  shape.heads = shape.width / kHeadWidth;
  shape.vocabulary = std::max<std::size_t>(256, static_cast<std::size_t>(static_cast<double>(full.vocabulary) * scale));
  shape.sequence = to_multiple(static_cast<double>(full.sequence) * scale, 64);
  return shape;
}

// ---- parameters

Parameter::Parameter(const Stream& stream, std::mt19937& random, std::size_t elements)
    : elements_(elements),
      weight_(elements * kHalf),
      master_(elements * kSingle),
      mean_(elements * kSingle),
      variance_(elements * kSingle) {
  std::array<std::uint32_t, 1024> noise{};
  std::generate(noise.begin(), noise.end(), std::ref(random));
  stream.zero(master_);
  stream.zero(weight_);
  stream.upload(master_, std::as_bytes(std::span{noise}));
  stream.upload(weight_, std::as_bytes(std::span{noise}));
  stream.zero(mean_);
  stream.zero(variance_);
}

void Parameter::take_gradient(const Stream& stream, const Tensor& output_gradient) {
  gradient_ = Tensor{elements_ * kHalf};
  stream.zero(gradient_);
  stream.combine(gradient_, output_gradient, weight_);
}

void Parameter::update(const Stream& stream) {
  const Tensor wide{elements_ * kSingle};  // the gradient in single precision
  stream.combine(wide, gradient_, master_);
  stream.combine(mean_, wide, mean_);
  stream.combine(variance_, wide, variance_);
  stream.combine(master_, mean_, variance_);
  stream.combine(weight_, master_, weight_);
  gradient_ = Tensor{};
}

// ---- model

Model::Model(const Stream& stream, const Shape& shape, unsigned seed) : stream_(stream), shape_(shape) {
  std::mt19937 random{seed};
  ends_.emplace_back(stream_, random, shape.vocabulary * shape.width);
  ends_.emplace_back(stream_, random, shape.sequence * shape.width);
  ends_.emplace_back(stream_, random, 2 * shape.width);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) blocks_.push_back(make_block(random));
}

Model::Block Model::make_block(std::mt19937& random) const {
  const std::size_t w = shape_.width;
  const auto parameter = [&](std::size_t elements) { return Parameter{stream_, random, elements}; };
  return {.norm1 = parameter(2 * w),
          .qkv = parameter(w * 3 * w),
          .qkv_bias = parameter(3 * w),
          .projection = parameter(w * w),
          .projection_bias = parameter(w),
          .norm2 = parameter(2 * w),
          .up = parameter(w * 4 * w),
          .up_bias = parameter(4 * w),
          .down = parameter(4 * w * w),
          .down_bias = parameter(w)};
}

Tensor Model::apply(const Parameter& parameter, const Tensor& input, std::size_t outputs) const {
  Tensor output{outputs * kHalf};
  stream_.combine(output, input, parameter.weight());
  return output;
}

Tensor Model::forward(const Batch& batch, bool keep) {
  const std::size_t tokens = batch.rows * batch.sequence;
  Tensor hidden = apply(ends_[0], batch.tokens, tokens * shape_.width);
  stream_.combine(hidden, hidden, ends_[1].weight());
  for (const Block& block : blocks_) hidden = run_block(block, batch, std::move(hidden), keep);
  const Tensor normed = apply(ends_[2], hidden, tokens * shape_.width);
  return apply(ends_[0], normed, tokens * shape_.vocabulary);
}

Tensor Model::run_block(const Block& block, const Batch& batch, Tensor input, bool keep) {
  const std::size_t tokens = batch.rows * batch.sequence;
  const std::size_t w = shape_.width;
  Tensor normed1 = apply(block.norm1, input, tokens * w);
  Tensor qkv = apply(block.qkv, normed1, tokens * 3 * w);
  stream_.combine(qkv, qkv, block.qkv_bias.weight());
  Tensor scores{batch.rows * shape_.heads * batch.sequence * batch.sequence * kHalf};
  stream_.combine(scores, qkv, qkv);
  Tensor context{tokens * w * kHalf};
  stream_.combine(context, scores, qkv);
  Tensor attended = apply(block.projection, context, tokens * w);
  stream_.combine(attended, attended, block.projection_bias.weight());
  stream_.combine(attended, attended, input);

  Tensor normed2 = apply(block.norm2, attended, tokens * w);
  Tensor up = apply(block.up, normed2, tokens * 4 * w);
  stream_.combine(up, up, block.up_bias.weight());
  Tensor output = apply(block.down, up, tokens * w);
  stream_.combine(output, output, block.down_bias.weight());
  stream_.combine(output, output, attended);
  if (keep) {
    for (Tensor* activation : {&input, &normed1, &qkv, &scores, &context, &attended, &normed2, &up}) {
      saved_.push_back(std::move(*activation));
    }
  }
  return output;
}

void Model::backward(const Batch& batch, Tensor logits) {
  const std::size_t hidden_bytes = batch.rows * batch.sequence * shape_.width * kHalf;
  Tensor gradient{hidden_bytes};
  for (Parameter& end : ends_) end.take_gradient(stream_, logits);
  stream_.combine(gradient, logits, ends_[2].weight());
  logits = Tensor{};
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    for (Parameter* parameter :
         {&block->down_bias, &block->down, &block->up_bias, &block->up, &block->norm2, &block->projection_bias,
          &block->projection, &block->qkv_bias, &block->qkv, &block->norm1}) {
      parameter->take_gradient(stream_, gradient);
    }
    // Each saved activation is used once more and is then free; the input's gradient goes on to the block before.
    for (int used = 0; used < 8; ++used) {
      const Tensor activation = std::move(saved_.back());
      saved_.pop_back();
      Tensor next{activation.bytes()};
      stream_.combine(next, activation, gradient);
      stream_.combine(gradient, next, gradient);
    }
  }
}

void Model::update() {
  for (Parameter& end : ends_) end.update(stream_);
  for (Block& block : blocks_) {
    for (Parameter* parameter : {&block.norm1, &block.qkv, &block.qkv_bias, &block.projection, &block.projection_bias,
                                 &block.norm2, &block.up, &block.up_bias, &block.down, &block.down_bias}) {
      parameter->update(stream_);
    }
  }
}

}  // namespace train
