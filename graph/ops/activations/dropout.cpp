#include "graph/ops/activations/dropout.hpp"

#include <algorithm>
#include <cmath>

#include "graph/ir/random_run.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute p{"p", 0.5};
constexpr FlagAttribute channels{"channels"};
constexpr FlagAttribute alpha_form{"alpha"};

}  // namespace attribute
namespace {

/// A word of the mask has this many bits. A unit of the work is one word, together with the
/// elements, or the channels of samples, for which its bits stand.
constexpr std::size_t word_bits = 64;

double probability(const Attributes& attributes) {
  return attribute::p.of(attributes);
}

/// Ends are what a dropout makes of an element x: scale·x + shift if it is kept, else `dropped`.
struct Ends {
  float scale, shift = 0, dropped = 0;
};

/// Returns the ends of a dropout that keeps mean 0 and variance 1 of its inputs, where a dropped
/// element becomes -λα, the limit of SELU, before all elements are scaled and shifted.
Ends alpha_ends(double p) {
  constexpr double limit = 1.0507009873554805 * 1.6732632423543772;  // This is λα.
  const double scale = 1 / std::sqrt((limit * limit * p + 1) * (1 - p));
  return {.scale = static_cast<float>(scale),
          .shift = static_cast<float>(scale * limit * p),
          .dropped = static_cast<float>(scale * limit * (p - 1))};
}

Ends ends(const Attributes& attributes) {
  const double p = probability(attributes);
  if (p >= 1) return {.scale = 0};
  if (p > 0 && attribute::alpha_form.of(attributes)) return alpha_ends(p);
  return {.scale = static_cast<float>(1 / (1 - p))};
}

/// Returns how many neighbouring elements share a bit of the mask: one, or those of a channel.
std::int64_t elements_of_bit(const Attributes& attributes, const Shape& x) {
  if (!attribute::channels.of(attributes)) return 1;
  const std::int64_t runs = x[0] * x[1];
  return runs > 0 ? x.elements() / runs : 1;
}

/// Returns the number of bits that decide about x.
std::int64_t bits_of(const Attributes& attributes, const Shape& x) {
  const std::int64_t each = elements_of_bit(attributes, x);
  return each > 0 ? x.elements() / each : 0;
}

TensorType mask_type(const Attributes& attributes, const Shape& x) {
  constexpr auto bits = static_cast<std::int64_t>(word_bits);
  return {DType::i64, {(bits_of(attributes, x) + bits - 1) / bits}};
}

const Op& inference() {
  return identity;
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  expect_between(probability(attributes), 0, 1, "p");
  if (attribute::channels.of(attributes)) expect_rank_from(in[0], 2, "x");
  return {in[0], mask_type(attributes, in[0].shape)};
}

/// Returns the word of the mask that has the bits `first` to `first + count - 1`, where `first` is
/// a multiple of word_bits. Each bit has a random number below 2^32, and is 0 if its number is
/// below p·2^32.
std::uint64_t draw_word(const RandomRun& random, std::size_t first, std::size_t count, double p) {
  static_assert(RandomRun::size == word_bits);
  const auto dropped = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  const RandomRun::Draws draws = random.draw(first / 4);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i)
    word |= static_cast<std::uint64_t>(draws[i] >= dropped) << i;
  return word;
}

std::int64_t units(const Attributes& attributes, Types in, Types) {
  return mask_type(attributes, in[0].shape).shape.elements();
}

/// Returns the bits of the mask that belong to the call's part.
Part bits_of(const KernelCall& call) {
  return elements_of(call.part, word_bits, bits_of(call.attributes, call.inputs[0].shape()));
}

/// Applies a mask that has a bit for each element.
void apply_to_elements(const KernelCall& call, const std::int64_t* mask, const Ends& to) {
  const auto [begin, end] = bits_of(call);
  const std::int64_t* words = mask + begin / static_cast<std::int64_t>(word_bits);
  const float* x = call.inputs[0].f32().data() + begin;
  float* y = call.outputs[0].f32().data() + begin;
  const ActivationKernels& kernels = kernel_table().activations;
  if (to.shift == 0 && to.dropped == 0)
    kernels.dropout(end - begin, words, to.scale, x, y);
  else
    kernels.alpha_dropout(end - begin, words, to.scale, to.shift, to.dropped, x, y);
}

/// Applies a mask that has a bit for each channel of each sample.
void apply_to_channels(const KernelCall& call, const std::int64_t* mask, const Ends& to) {
  const std::int64_t length = elements_of_bit(call.attributes, call.inputs[0].shape());
  const auto [begin, end] = bits_of(call);
  for (std::int64_t bit = begin; bit < end; ++bit) {
    const auto word = static_cast<std::uint64_t>(mask[bit / static_cast<std::int64_t>(word_bits)]);
    const bool kept = (word >> (bit % static_cast<std::int64_t>(word_bits)) & 1) != 0;
    const float* x = call.inputs[0].f32().data() + bit * length;
    float* y = call.outputs[0].f32().data() + bit * length;
    if (kept && to.shift == 0)
      kernel_table().arithmetic.scale(length, to.scale, x, y);
    else if (kept)
      kernel_table().norms.normalise(length, {.mean = 0, .inverse_std = to.scale}, 1, to.shift, x,
                                     y);
    else
      kernel_table().arithmetic.fill(length, to.dropped, y);
  }
}

void apply(const KernelCall& call, const std::int64_t* mask, const Ends& to) {
  if (attribute::channels.of(call.attributes))
    apply_to_channels(call, mask, to);
  else
    apply_to_elements(call, mask, to);
}

void forward(const KernelCall& call) {
  const double p = probability(call.attributes);
  const RandomRun random(call.random);
  const auto mask = call.outputs[1].i64();
  const Part bits = bits_of(call);
  const auto end = static_cast<std::size_t>(bits.end);
  for (auto first = static_cast<std::size_t>(bits.begin); first < end; first += word_bits)
    mask[first / word_bits] =
        static_cast<std::int64_t>(draw_word(random, first, std::min(word_bits, end - first), p));
  apply(call, mask.data(), ends(call.attributes));
}

void backward(GradientContext& context) {
  context.set(0, context.emit(dropout_gradient, {context.gradient(0), context.output(1)},
                              context.attributes()));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 50}};
  const TensorType image{DType::f32, {5, 30, 2, 3}};
  return {{.inputs = {x}, .attributes = {{"p", 0.3}}},
          {.inputs = {x}, .attributes = {{"p", 0.0}}},
          {.inputs = {x}, .attributes = {{"p", 1.0}}},
          {.inputs = {x}, .attributes = {{"p", 0.3}, {"alpha", 1}}},
          {.inputs = {x}, .attributes = {{"p", 1.0}, {"alpha", 1}}},
          {.inputs = {image}, .attributes = {{"p", 0.3}, {"channels", 1}}},
          {.inputs = {image}, .attributes = {{"p", 0.3}, {"channels", 1}, {"alpha", 1}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "dy, mask");
  expect_dtype(in[1], DType::i64, "mask");
  expect_shape(in[1], mask_type(attributes, in[0].shape).shape, "mask");
  return {in[0]};
}

void forward_gradient(const KernelCall& call) {
  apply(call, call.inputs[1].i64().data(), {.scale = ends(call.attributes).scale});
}

}  // namespace

const Op dropout{.name = "dropout",
                 .onnx = "Dropout",
                 .attributes = {attribute::p, attribute::channels, attribute::alpha_form},
                 .infer = infer,
                 .forward = forward,
                 .backward = backward,
                 .cost = streaming_cost<20>,
                 .units = units,
                 .overwrites = {{0, 0}},
                 .inference = inference,
                 .samples = samples};

const Op dropout_gradient{.name = "dropout_gradient",
                          .attributes = {attribute::p, attribute::channels, attribute::alpha_form},
                          .infer = infer_gradient,
                          .forward = forward_gradient,
                          .cost = streaming_cost<1>,
                          .units = units,
                          .overwrites = {{0, 0}}};

}  // namespace penstock::graph
