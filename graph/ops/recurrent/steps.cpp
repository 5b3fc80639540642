#include "graph/ops/recurrent/steps.hpp"

#include <string>

#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/rules/cost.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Regions of a workspace begin at multiples of this many floats.
constexpr std::int64_t region_floats = 16;

/// Returns where a region of `floats` floats ends that begins at `begin`.
std::int64_t end_of(std::int64_t begin, std::int64_t floats) {
  return begin + (floats + region_floats - 1) / region_floats * region_floats;
}

/// A RecurrentWorkspace says where the regions of the workspace begin, counted in floats: for the
/// packed weight, for what the gates get from the hidden state (or its gradient), for a row of
/// zeros and for the workspace of a product.
struct RecurrentWorkspace {
  std::int64_t factor = 0, sums, zeros, product, end;

  /// `columns` and `depth` are those of the product that each step computes.
  RecurrentWorkspace(const RecurrentSizes& sizes, std::int64_t columns, std::int64_t depth)
      : sums(end_of(factor, packed_factor_floats(columns, depth))),
        zeros(end_of(sums, sizes.samples * sizes.sums)),
        product(end_of(zeros, sizes.width)),
        end(product + packed_product_floats(depth)) {}
};

RecurrentWorkspace forward_workspace(const RecurrentSizes& sizes) {
  return {sizes, sizes.sums, sizes.width};
}

RecurrentWorkspace backward_workspace(const RecurrentSizes& sizes) {
  return {sizes, sizes.width, sizes.sums};
}

/// Writes the initial state to those rows of `state` that belong to the part, or zeros if there is
/// none.
void start(const Walk& walk, const Operand* initial, const Operand& state) {
  const std::int64_t width = state.shape()[1];
  float* const to = row_of(state, walk.begin());
  if (initial == nullptr)
    std::fill_n(to, walk.count() * width, 0.0f);
  else
    std::copy_n(row_of(*initial, walk.begin()), walk.count() * width, to);
}

const Operand* operand_at(const KernelCall& call, std::size_t position) {
  return position != 0 ? &call.inputs[position] : nullptr;
}

}  // namespace

std::int64_t recurrent_workspace(const Attributes&, Types in, Types) {
  return forward_workspace({in[0].shape, in[1].shape}).end * float_bytes;
}

std::int64_t recurrent_gradient_workspace(const Attributes&, Types in, Types) {
  return backward_workspace({in[0].shape, in[1].shape}).end * float_bytes;
}

Walk::Walk(const KernelCall& call, const RecurrentSizes& sizes, const Operand* lengths)
    : samples_(within(call.part, sizes.samples)),
      all_steps_(sizes.steps),
      lengths_(lengths != nullptr ? lengths->i64().data() : nullptr),
      reverse_(attribute::reverse.of(call.attributes)) {
  for (std::int64_t sample = begin(); sample < end(); ++sample) {
    if (length(sample) < 0 || length(sample) > all_steps_)
      throw Error(Errc::invalid_data, "length " + std::to_string(length(sample)) + " at sample " +
                                          std::to_string(sample) + ": expected 0 to " +
                                          std::to_string(all_steps_));
    steps_ = std::max(steps_, length(sample));
  }
}

void Walk::clear_rest(const Operand& tensor) const {
  for (std::int64_t sample = begin(); sample < end(); ++sample)
    std::fill_n(row_of(tensor, sample * all_steps_ + length(sample)),
                (all_steps_ - length(sample)) * tensor.shape()[-1], 0.0f);
}

RecurrentForward::RecurrentForward(const Recurrence& recurrence, const KernelCall& call)
    : call_(call),
      inputs_(recurrence, call.attributes),
      sizes_(call.inputs[0].shape(), call.inputs[1].shape()),
      walk_(call, sizes_, operand_at(call, inputs_.lengths)) {
  const RecurrentWorkspace regions = forward_workspace(sizes_);
  factor_ = floats(call.workspace) + regions.factor;
  sums_ = floats(call.workspace) + regions.sums;
  product_ = floats(call.workspace) + regions.product;
  const float* const weight = call.inputs[1].f32().data();
  kernel_table().products.pack_factor(sizes_.sums, sizes_.width, {weight, 1, sizes_.width},
                                      factor_);
  start(walk_, operand_at(call, inputs_.hidden), call.outputs[1]);
  if (recurrence.has_cell) start(walk_, operand_at(call, inputs_.cell), call.outputs[2]);
  for (const Operand& output : call.outputs)
    if (output.shape().rank() == 3) walk_.clear_rest(output);
}

void RecurrentForward::multiply() const {
  const Operand* const bias = operand_at(call_, inputs_.bias);
  kernel_table().products.multiply_packed({.rows = walk_.count(),
                                           .columns = sizes_.sums,
                                           .depth = sizes_.width,
                                           .left = row_of(call_.outputs[1], walk_.begin()),
                                           .right = factor_,
                                           .bias = bias != nullptr ? bias->f32().data() : nullptr,
                                           .result = sums_},
                                          product_);
}

RecurrentGradients::RecurrentGradients(const Recurrence& recurrence, const KernelCall& call) {
  std::size_t next = 2 + recurrence.saved;
  const auto input_if = [&](bool present) { return present ? &call.inputs[next++] : nullptr; };
  const auto has = [&](const FlagAttribute& flag) { return flag.of(call.attributes); };
  hidden = input_if(has(attribute::has_initial));
  cell = input_if(has(attribute::has_initial) && recurrence.has_cell);
  lengths = input_if(has(attribute::has_lengths));
  dy = input_if(has(attribute::has_dy));
  dh = input_if(has(attribute::has_dh));
  dc = input_if(has(attribute::has_dc));
}

RecurrentBackward::RecurrentBackward(const Recurrence& recurrence, const KernelCall& call)
    : call_(call),
      inputs_(recurrence, call),
      sizes_(call.inputs[0].shape(), call.inputs[1].shape()),
      walk_(call, sizes_, inputs_.lengths) {
  const RecurrentWorkspace regions = backward_workspace(sizes_);
  factor_ = floats(call.workspace) + regions.factor;
  dsums_ = floats(call.workspace) + regions.sums;
  zeros_ = floats(call.workspace) + regions.zeros;
  product_ = floats(call.workspace) + regions.product;
  const float* const weight = call.inputs[1].f32().data();
  kernel_table().products.pack_factor(sizes_.width, sizes_.sums, {weight, sizes_.width, 1},
                                      factor_);
  std::fill_n(zeros_, sizes_.width, 0.0f);
  // A sample whose last step is yet to come contributes nothing to the products.
  std::fill_n(dsums_, walk_.count() * sizes_.sums, 0.0f);
  start(walk_, inputs_.dh, call.outputs[2]);
  if (recurrence.has_cell) start(walk_, inputs_.dc, call.outputs[3]);
  for (const Operand& output : call.outputs)
    if (output.shape().rank() == 3) walk_.clear_rest(output);
}

const float* RecurrentBackward::before(std::int64_t sample, std::int64_t row, const Operand& all,
                                       const Operand* initial) const {
  if (row >= 0) return row_of(all, row);
  return initial != nullptr ? row_of(*initial, sample) : zeros_;
}

StepBack RecurrentBackward::step_back(std::int64_t sample, std::int64_t step) const {
  const std::int64_t row = walk_.row(sample, step);
  const std::int64_t row_before = step > 0 ? walk_.row(sample, step - 1) : -1;
  return {.sample = sample,
          .row = row,
          .before = row_before,
          .dy = inputs_.dy != nullptr ? row_of(*inputs_.dy, row) : zeros_,
          .old_hidden = before(sample, row_before, call_.inputs[0], inputs_.hidden),
          .dsums = dsums_ + (sample - walk_.begin()) * sizes_.sums};
}

void RecurrentBackward::multiply() const {
  kernel_table().products.multiply_packed({.rows = walk_.count(),
                                           .columns = sizes_.width,
                                           .depth = sizes_.sums,
                                           .left = dsums_,
                                           .right = factor_,
                                           .accumulate = true,
                                           .result = row_of(call_.outputs[2], walk_.begin())},
                                          product_);
}

}  // namespace penstock::graph
