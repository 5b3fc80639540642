#include "graph/ops/sequences/rotary_embedding.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute rotary_heads{"heads", 1};
constexpr IntegerAttribute rotary_features{"features"};
constexpr RealAttribute rotary_base{"base", 10000};
constexpr FlagAttribute interleaved{"interleaved"};
constexpr FlagAttribute inverse{"inverse"};
constexpr FlagAttribute has_position{"position"};

}  // namespace attribute
namespace {

/// A RotarySizes has the numbers of sequences, positions and heads, and how many features a head
/// has and how many pairs of them are rotated.
struct RotarySizes {
  std::int64_t sequences, positions, heads, width, pairs;

  RotarySizes(const Attributes& attributes, const Shape& x)
      : positions(x[-2]), heads(attribute::rotary_heads.of(attributes)), width(x[-1] / heads) {
    const std::int64_t features = attribute::rotary_features.of(attributes);
    pairs = (features != 0 ? features : width) / 2;
    sequences = x.elements() / (positions * x[-1]);
  }
};

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const bool has_position = attribute::has_position.of(attributes);
  expect_inputs(in, has_position ? 2 : 1, has_position ? "x, position" : "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 3, "x");
  expect_elements(in[0], "x");
  check_f32("base", attribute::rotary_base.of(attributes), {.above_low = true});
  const std::int64_t heads = attribute::rotary_heads.of(attributes), all = in[0].shape[-1];
  expect(heads >= 1, "expected 1 head or more, got " + std::to_string(heads));
  expect(all % heads == 0, "expected x with a multiple of " + std::to_string(heads) +
                               " features, got " + to_string(in[0]));
  const std::int64_t features = attribute::rotary_features.of(attributes);
  const std::int64_t rotated = features != 0 ? features : all / heads;
  expect(rotated >= 2 && rotated % 2 == 0 && rotated <= all / heads,
         "expected an even number of rotated features from 2 to the " +
             std::to_string(all / heads) + " features of a head, got " + std::to_string(rotated));
  if (has_position) {
    expect_dtype(in[1], DType::i64, "position");
    expect_shape(in[1], {in[0].shape[0]}, "position");
  }
  return {in[0]};
}

/// A Turns has the cosines and sines of the angles at one position at a time, in the workspace
/// behind the angles at position 1.
class Turns {
 public:
  Turns(const KernelCall& call, const RotarySizes& sizes)
      : pairs_(sizes.pairs),
        first_angles_(doubles(call.workspace)),
        cosines_(reinterpret_cast<float*>(first_angles_ + pairs_)),
        sines_(cosines_ + pairs_),
        sign_(attribute::inverse.of(call.attributes) ? -1.0f : 1.0f) {
    const double base = attribute::rotary_base.of(call.attributes);
    for (std::int64_t i = 0; i < pairs_; ++i)
      first_angles_[i] = std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs_));
  }

  void move_to(double position) {
    if (position == position_) return;
    position_ = position;
    for (std::int64_t i = 0; i < pairs_; ++i) {
      const double angle = position * first_angles_[i];
      cosines_[i] = static_cast<float>(std::cos(angle));
      sines_[i] = sign_ * static_cast<float>(std::sin(angle));
    }
  }

  /// Rotates the pairs of one head. The features of a pair are `apart` features apart, and those of
  /// neighbouring pairs `step`. `y` may be `x`.
  void rotate(const float* x, std::int64_t step, std::int64_t apart, float* y) const {
    for (std::int64_t i = 0; i < pairs_; ++i) {
      const float a = x[i * step], b = x[i * step + apart];
      y[i * step] = a * cosines_[i] - b * sines_[i];
      y[i * step + apart] = b * cosines_[i] + a * sines_[i];
    }
  }

 private:
  std::int64_t pairs_;
  double* first_angles_;
  float *cosines_, *sines_;
  float sign_;
  std::optional<double> position_;
};

/// Returns the position of row 0 of a sequence. Positions above 2^53 are rounded.
double first_position(const KernelCall& call, const RotarySizes& sizes, std::int64_t sequence) {
  if (!attribute::has_position.of(call.attributes)) return 0;
  const Operand& positions = call.inputs[1];
  const std::int64_t sample = sequence / (sizes.sequences / positions.elements());
  return static_cast<double>(positions.i64()[static_cast<std::size_t>(sample)]);
}

void forward(const KernelCall& call) {
  const RotarySizes sizes(call.attributes, call.inputs[0].shape());
  Turns turns(call, sizes);
  const bool interleaved = attribute::interleaved.of(call.attributes);
  const std::int64_t step = interleaved ? 2 : 1, apart = interleaved ? 1 : sizes.pairs;
  const Part rows = within(call.part, sizes.positions);
  for (std::int64_t position = rows.begin; position < rows.end; ++position) {
    for (std::int64_t i = 0; i < sizes.sequences * sizes.heads; ++i) {
      const std::int64_t sequence = i / sizes.heads;
      turns.move_to(first_position(call, sizes, sequence) + static_cast<double>(position));
      const std::int64_t row = sequence * sizes.positions + position;
      const std::int64_t begin = (row * sizes.heads + i % sizes.heads) * sizes.width;
      const float* const x = call.inputs[0].f32().data() + begin;
      float* const y = call.outputs[0].f32().data() + begin;
      turns.rotate(x, step, apart, y);
      for (std::int64_t j = 2 * sizes.pairs; j < sizes.width; ++j) y[j] = x[j];
    }
  }
}

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  return RotarySizes(attributes, in[0].shape).pairs * (double_bytes + 2 * float_bytes);
}

std::int64_t units(const Attributes&, Types in, Types) {
  return in[0].shape[-2];
}

/// The gradient of a rotation is the rotation back.
void backward(GradientContext& context) {
  Attributes attributes = context.attributes();
  attributes.set("inverse", std::int64_t{attribute::inverse.of(attributes) ? 0 : 1});
  std::vector<ValueId> inputs{context.gradient(0)};
  if (attribute::has_position.of(attributes)) inputs.push_back(context.input(1));
  context.set(0, context.emit(rotary_embedding, std::move(inputs), std::move(attributes)));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {2, 5, 12}};
  return {{.inputs = {x}},
          {.inputs = {x}, .attributes = {{"heads", 2}, {"interleaved", 1}, {"base", 100.0}}},
          {.inputs = {{DType::f32, {2, 3, 40, 14}}}, .attributes = {{"heads", 2}, {"features", 4}}},
          {.inputs = {x}, .attributes = {{"heads", 3}, {"inverse", 1}}},
          {.inputs = {{DType::f32, {3, 2, 4, 6}}, {DType::i64, {3}}},
           .attributes = {{"position", 1}},
           .labels = 50}};
}

}  // namespace

const Op rotary_embedding{
    .name = "rotary_embedding",
    .attributes = {attribute::rotary_heads, attribute::rotary_features, attribute::rotary_base,
                   attribute::interleaved, attribute::inverse, attribute::has_position},
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .cost = streaming_cost<6>,
    .workspace = workspace,
    .units = units,
    .overwrites = {{0, 0}},
    .samples = samples,
    .index_inputs = {1}};

}  // namespace penstock::graph
