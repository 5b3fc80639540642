#include "graph/ops/activations/dropout.hpp"

#include <algorithm>
#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute p{"p", 0.5};

}  // namespace attribute
namespace {

/// A word of the mask has this many bits. A unit of the work is one word, together with the
/// elements for which its bits stand.
constexpr std::size_t word_bits = 64;

double probability(const Attributes& attributes) {
  return attribute::p.of(attributes);
}

float kept_scale(const Attributes& attributes) {
  const double p = probability(attributes);
  return p < 1 ? static_cast<float>(1 / (1 - p)) : 0.0f;
}

TensorType mask_type(const Shape& x) {
  constexpr auto bits = static_cast<std::int64_t>(word_bits);
  return {DType::i64, {(x.elements() + bits - 1) / bits}};
}

const Op& inference() {
  return identity;
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  expect_between(probability(attributes), 0, 1, "p");
  return {in[0], mask_type(in[0].shape)};
}

/// Returns the word of the mask whose bits stand for the elements `first` to `first + count - 1`.
/// Each element has a random number below 2^32; the element is dropped if its number is below
/// p·2^32.
std::uint64_t draw_word(const RandomKey& key, std::size_t first, std::size_t count, double p) {
  const auto dropped = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; i += 4) {
    const auto draws = philox(key, (first + i) / 4);
    for (std::size_t j = 0; j < std::min<std::size_t>(4, count - i); ++j)
      word |= static_cast<std::uint64_t>(draws[j] >= dropped) << (i + j);
  }
  return word;
}

std::int64_t units(const Attributes&, Types in, Types) {
  return mask_type(in[0].shape).shape.elements();
}

Part elements_of(const KernelCall& call) {
  return elements_of(call.part, word_bits, call.inputs[0].elements());
}

void apply(const KernelCall& call, const std::int64_t* mask) {
  const Operand &in = call.inputs[0], &out = call.outputs[0];
  const auto [begin, end] = elements_of(call);
  kernel_table().activations.dropout(
      end - begin, mask + begin / static_cast<std::int64_t>(word_bits), kept_scale(call.attributes),
      in.f32().data() + begin, out.f32().data() + begin);
}

void forward(const KernelCall& call) {
  const double p = probability(call.attributes);
  const auto mask = call.outputs[1].i64();
  const Part elements = elements_of(call);
  const auto end = static_cast<std::size_t>(elements.end);
  for (auto first = static_cast<std::size_t>(elements.begin); first < end; first += word_bits)
    mask[first / word_bits] = static_cast<std::int64_t>(
        draw_word(call.random, first, std::min(word_bits, end - first), p));
  apply(call, mask.data());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(dropout_gradient, {context.gradient(0), context.output(1)},
                              context.attributes()));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 50}};
  return {{.inputs = {x}, .attributes = {{"p", 0.3}}},
          {.inputs = {x}, .attributes = {{"p", 0.0}}},
          {.inputs = {x}, .attributes = {{"p", 1.0}}}};
}

std::vector<TensorType> infer_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "dy, mask");
  expect_dtype(in[1], DType::i64, "mask");
  expect_shape(in[1], mask_type(in[0].shape).shape, "mask");
  return {in[0]};
}

void forward_gradient(const KernelCall& call) {
  apply(call, call.inputs[1].i64().data());
}

}  // namespace

const Op dropout{.name = "dropout",
                 .onnx = "Dropout",
                 .attributes = {attribute::p},
                 .infer = infer,
                 .forward = forward,
                 .backward = backward,
                 .cost = streaming_cost<20>,
                 .units = units,
                 .overwrites = {{0, 0}},
                 .inference = inference,
                 .samples = samples};

const Op dropout_gradient{.name = "dropout_gradient",
                          .attributes = {attribute::p},
                          .infer = infer_gradient,
                          .forward = forward_gradient,
                          .cost = streaming_cost<1>,
                          .units = units,
                          .overwrites = {{0, 0}}};

}  // namespace penstock::graph
