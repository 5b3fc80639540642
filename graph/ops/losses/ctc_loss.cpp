#include "graph/ops/losses/ctc_loss.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute blank{"blank"};
constexpr FlagAttribute zero_infinity{"zero_infinity"};

}  // namespace attribute
namespace {

void expect_sequences(const Attributes& attributes, Types in) {
  expect_dtype(in[0], DType::f32, "log_probabilities");
  expect_rank(in[0], 3, "log_probabilities");
  expect_elements(in[0], "log_probabilities");
  const std::int64_t samples = in[0].shape[0], classes = in[0].shape[2];
  expect_dtype(in[1], DType::i64, "labels");
  expect_rank(in[1], 2, "labels");
  expect_shape(in[1], {samples, in[1].shape[1]}, "labels");
  for (const std::size_t i : {2, 3}) {
    const char* const name = i == 2 ? "steps" : "counts";
    expect_dtype(in[i], DType::i64, name);
    expect_shape(in[i], {samples}, name);
  }
  const std::int64_t blank = attribute::blank.of(attributes);
  if (blank < 0 || blank >= classes)
    throw Error(Errc::invalid_argument, "expected blank from 0 to " + std::to_string(classes - 1) +
                                            ", got " + std::to_string(blank));
}

[[noreturn]] void refuse(const std::string& what, std::int64_t got, std::int64_t sample,
                         const std::string& expected) {
  throw Error(Errc::invalid_data, what + " " + std::to_string(got) + " at sample " +
                                      std::to_string(sample) + ": expected " + expected);
}

/// A Sequences has the sequences of one kernel call.
class Sequences {
 public:
  explicit Sequences(const KernelCall& call)
      : shape_(call.inputs[0].shape()),
        width_(call.inputs[1].shape()[1]),
        blank_(attribute::blank.of(call.attributes)),
        log_probabilities_(call.inputs[0].f32().data()),
        labels_(call.inputs[1].i64().data()),
        steps_(call.inputs[2].i64().data()),
        counts_(call.inputs[3].i64().data()) {}

  std::int64_t size() const { return shape_[0]; }
  /// Returns the sequence of a sample.
  /// @throws Error invalid_data if the length of the sequence, its number of labels or one of its
  /// labels is out of range.
  LabelledSequence operator[](std::int64_t sample) const {
    check_length("length", steps_[sample], sample, shape_[1]);
    check_length("number of labels", counts_[sample], sample, width_);
    const LabelledSequence sequence{.steps = steps_[sample],
                                    .classes = shape_[2],
                                    .blank = blank_,
                                    .log_probabilities = log_probabilities_ + offset(sample),
                                    .count = counts_[sample],
                                    .labels = labels_ + sample * width_};
    for (std::int64_t i = 0; i < sequence.count; ++i) {
      const std::int64_t label = sequence.labels[i];
      if (label < 0 || label >= shape_[2] || label == blank_)
        refuse("label", label, sample,
               "0 to " + std::to_string(shape_[2] - 1) + " without the blank, " +
                   std::to_string(blank_));
    }
    return sequence;
  }
  /// Returns the index at which the log-probabilities of a sample begin.
  std::int64_t offset(std::int64_t sample) const { return sample * shape_[1] * shape_[2]; }
  std::int64_t steps() const { return shape_[1]; }

 private:
  static void check_length(const char* what, std::int64_t length, std::int64_t sample,
                           std::int64_t most) {
    if (length < 0 || length > most) refuse(what, length, sample, "0 to " + std::to_string(most));
  }

  const Shape& shape_;
  std::int64_t width_, blank_;
  const float* log_probabilities_;
  const std::int64_t *labels_, *steps_, *counts_;
};

/// Returns the number by which a sample's loss is divided before the mean is taken: the sample's
/// number of labels, but at least 1. For other reductions, which do not divide, the result is 1.
double divisor(const Attributes& attributes, const LabelledSequence& sequence) {
  if (loss_form(attributes) != LossForm::mean) return 1;
  return static_cast<double>(std::max<std::int64_t>(sequence.count, 1));
}

bool is_dropped(const Attributes& attributes, float loss) {
  return std::isinf(loss) && attribute::zero_infinity.of(attributes);
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "log_probabilities, labels, steps, counts");
  expect_sequences(attributes, in);
  return {loss_type(attributes, row_terms(in))};
}

void forward(const KernelCall& call) {
  const Sequences sequences(call);
  const LossForm form = loss_form(call.attributes);
  float* const out = call.outputs[0].f32().data();
  double sum = 0;
  for (std::int64_t i = 0; i < sequences.size(); ++i) {
    const LabelledSequence sequence = sequences[i];
    float loss = kernel_table().alignments.loss(sequence, floats(call.workspace));
    if (is_dropped(call.attributes, loss)) loss = 0;
    if (form == LossForm::each) out[i] = loss;
    sum += static_cast<double>(loss) / divisor(call.attributes, sequence);
  }
  if (form != LossForm::each) *out = mean_or_sum(form, sum, sequences.size());
}

std::int64_t workspace(const Attributes&, Types in, Types) {
  return alignment_workspace(in[0].shape[1], in[1].shape[1]).end * float_bytes;
}

void backward(GradientContext& context) {
  context.set(0, context.emit(ctc_loss_gradient,
                              {context.input(0), context.input(1), context.input(2),
                               context.input(3), context.gradient(0)},
                              context.attributes()));
}

Cost cost(const Attributes&, Types in, Types out) {
  const double states = 2.0 * static_cast<double>(in[1].shape[1]) + 1;
  Cost cost{.flops = 120 * states * static_cast<double>(in[0].shape[0] * in[0].shape[1])};
  for (const TensorType& type : in) cost.bytes += static_cast<double>(type.bytes());
  cost.bytes += static_cast<double>(out[0].bytes());
  return cost;
}

std::vector<OpSample> samples() {
  const std::vector<TensorType> inputs{
      {DType::f32, {8, 6, 7}}, {DType::i64, {8, 5}}, {DType::i64, {8}}, {DType::i64, {8}}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = inputs,
                   .attributes = {{"reduction", reduction},
                                  {"blank", std::int64_t{6}},
                                  {"zero_infinity", std::int64_t{1}}},
                   .labels = 6});
  return all;
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 5, "log_probabilities, labels, steps, counts, dloss");
  expect_loss_gradient(attributes, in[4], row_terms(in));
  return {in[0]};
}

void forward_gradient(const KernelCall& call) {
  const AlignmentKernels& kernels = kernel_table().alignments;
  const Sequences sequences(call);
  const TermGradients gradients(call.attributes, call.inputs[4], sequences.size());
  float* const workspace = floats(call.workspace);
  float* const dx = call.outputs[0].f32().data();
  kernel_table().arithmetic.fill(call.outputs[0].elements(), 0, dx);
  for (std::int64_t i = 0; i < sequences.size(); ++i) {
    const LabelledSequence sequence = sequences[i];
    if (is_dropped(call.attributes, kernels.loss(sequence, workspace))) continue;
    const double factor = static_cast<double>(gradients[i]) / divisor(call.attributes, sequence);
    kernels.gradient(sequence, static_cast<float>(factor), workspace, dx + sequences.offset(i));
  }
}

/// Fills the inputs with valid sequences: each sequence has all steps, and as many labels as fit
/// into the room for labels and can be spelled in these steps.
void fill_sequences(const Attributes& attributes, std::span<const Operand> inputs) {
  const std::int64_t steps = inputs[0].shape()[1], classes = inputs[0].shape()[2];
  const std::int64_t blank = attribute::blank.of(attributes), width = inputs[1].shape()[1];
  // With two classes, there is one label, which is repeated, and a blank must stand between any two
  // of its repetitions.
  const std::int64_t most = classes == 1 ? 0 : classes == 2 ? (steps + 1) / 2 : steps;
  std::ranges::fill(inputs[2].i64(), steps);
  std::ranges::fill(inputs[3].i64(), std::min(width, most));
  std::int64_t number = 0;
  for (std::int64_t& label : inputs[1].i64())
    label = classes == 1 ? blank : (blank + 1 + number++ % (classes - 1)) % classes;
}

/// Returns the ranges of lengths and of numbers of labels. The range of the labels themselves
/// depends on these, because labels behind the last one of a sequence are never read.
std::vector<IndexRange> ranges_of_lengths(const Attributes&, Types inputs) {
  return {{.input = 2, .end = inputs[0].shape[1] + 1, .element = "length"},
          {.input = 3, .end = inputs[1].shape[1] + 1, .element = "number of labels"}};
}

}  // namespace

const Op ctc_loss{.name = "ctc_loss",
                  .attributes = {attribute::reduction, attribute::blank, attribute::zero_infinity},
                  .infer = infer,
                  .forward = forward,
                  .backward = backward,
                  .cost = cost,
                  .workspace = workspace,
                  .samples = samples,
                  .make_valid = fill_sequences,
                  .index_ranges = ranges_of_lengths,
                  .index_inputs = {1, 2, 3},
                  .is_loss = true};

const Op ctc_loss_gradient{
    .name = "ctc_loss_gradient",
    .attributes = {attribute::reduction, attribute::blank, attribute::zero_infinity},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = cost,
    .workspace = workspace,
    .make_valid = fill_sequences};

}  // namespace penstock::graph
