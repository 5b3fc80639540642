#include "graph/kernels/conv2d/conv2d.hpp"

#include <algorithm>

#include "engine/values/memory.hpp"
#include "graph/kernels/conv2d/unfold.hpp"
#include "graph/kernels/eigen.hpp"

namespace penstock::graph {
namespace {

using View = Eigen::Map<RowMatrix>;
using ConstView = Eigen::Map<const RowMatrix>;

std::int64_t column_bytes(const Conv2dGeometry& conv) {
  return aligned(4 * conv.depth() * conv.samples_per_pass() * conv.pixels());
}

/// The samples and the group that one matrix product covers.
struct Pass {
  const Conv2dGeometry& conv;
  std::int64_t first, samples, group;

  std::int64_t width() const { return samples * conv.pixels(); }
  /// Where the group's planes of the pass's first sample begin.
  std::int64_t input_offset() const {
    return (first * conv.c + group * conv.group_inputs()) * conv.h * conv.w;
  }
  std::int64_t output_offset() const {
    return (first * conv.o + group * conv.group_outputs()) * conv.pixels();
  }
  std::int64_t weight_offset() const { return group * conv.group_outputs() * conv.depth(); }
};

/// The workspace: unfolded inputs, then outputs side by side, [group_outputs, samples*pixels].
struct Scratch {
  float* columns;
  float* outputs;

  Scratch(const Conv2dGeometry& conv, std::span<std::byte> workspace)
      : columns(reinterpret_cast<float*>(workspace.data())),
        outputs(reinterpret_cast<float*>(workspace.data() + column_bytes(conv))) {}
};

template <class Work>
void for_each_pass(const Conv2dGeometry& conv, Work work) {
  const std::int64_t step = conv.samples_per_pass();
  for (std::int64_t first = 0; first < conv.n; first += step)
    for (std::int64_t group = 0; group < conv.groups; ++group)
      work(Pass{conv, first, std::min(step, conv.n - first), group});
}

/// The pass's planes of y, gathered side by side; with one sample they already are.
const float* gathered(const Pass& pass, const float* y, float* outputs) {
  const Conv2dGeometry& conv = pass.conv;
  if (pass.samples == 1) return y + pass.output_offset();
  for (std::int64_t sample = 0; sample < pass.samples; ++sample)
    View(outputs, conv.group_outputs(), pass.width())
        .middleCols(sample * conv.pixels(), conv.pixels()) =
        ConstView(y + pass.output_offset() + sample * conv.o * conv.pixels(), conv.group_outputs(),
                  conv.pixels());
  return outputs;
}

void scatter(const Pass& pass, const float* outputs, float* y) {
  const Conv2dGeometry& conv = pass.conv;
  for (std::int64_t sample = 0; sample < pass.samples; ++sample)
    View(y + pass.output_offset() + sample * conv.o * conv.pixels(), conv.group_outputs(),
         conv.pixels()) = ConstView(outputs, conv.group_outputs(), pass.width())
                              .middleCols(sample * conv.pixels(), conv.pixels());
}

/// What the product is added to: the bias of each of the group's channels.
void fill_bias(const Pass& pass, const float* bias, View outputs) {
  for (std::int64_t channel = 0; channel < outputs.rows(); ++channel)
    outputs.row(channel).setConstant(bias ? bias[pass.group * pass.conv.group_outputs() + channel]
                                          : 0.0f);
}

}  // namespace

std::int64_t convolve_workspace(const Conv2dGeometry& conv) {
  const std::int64_t samples = conv.samples_per_pass();
  const std::int64_t outputs = samples == 1 ? 0 : conv.group_outputs() * samples * conv.pixels();
  return column_bytes(conv) + 4 * outputs;
}

void convolve(const Conv2dGeometry& conv, const float* x, const float* weight, const float* bias,
              float* y, std::span<std::byte> workspace) {
  const Scratch scratch(conv, workspace);
  for_each_pass(conv, [&](const Pass& pass) {
    unfold(conv, x + pass.input_offset(), pass.samples, scratch.columns);
    float* const target = pass.samples == 1 ? y + pass.output_offset() : scratch.outputs;
    View outputs(target, conv.group_outputs(), pass.width());
    fill_bias(pass, bias, outputs);
    outputs.noalias() +=
        ConstView(weight + pass.weight_offset(), conv.group_outputs(), conv.depth()) *
        ConstView(scratch.columns, conv.depth(), pass.width());
    if (pass.samples != 1) scatter(pass, scratch.outputs, y);
  });
}

void convolve_input_gradient(const Conv2dGeometry& conv, const float* dy, const float* weight,
                             float* dx, std::span<std::byte> workspace) {
  const Scratch scratch(conv, workspace);
  std::fill(dx, dx + conv.n * conv.c * conv.h * conv.w, 0.0f);
  for_each_pass(conv, [&](const Pass& pass) {
    const float* const outputs = gathered(pass, dy, scratch.outputs);
    View(scratch.columns, conv.depth(), pass.width()).noalias() =
        ConstView(weight + pass.weight_offset(), conv.group_outputs(), conv.depth()).transpose() *
        ConstView(outputs, conv.group_outputs(), pass.width());
    fold(conv, scratch.columns, pass.samples, dx + pass.input_offset());
  });
}

void convolve_weight_gradient(const Conv2dGeometry& conv, const float* x, const float* dy,
                              float* dweight, std::span<std::byte> workspace) {
  const Scratch scratch(conv, workspace);
  std::fill(dweight, dweight + conv.o * conv.depth(), 0.0f);
  for_each_pass(conv, [&](const Pass& pass) {
    unfold(conv, x + pass.input_offset(), pass.samples, scratch.columns);
    const float* const outputs = gathered(pass, dy, scratch.outputs);
    View(dweight + pass.weight_offset(), conv.group_outputs(), conv.depth()).noalias() +=
        ConstView(outputs, conv.group_outputs(), pass.width()) *
        ConstView(scratch.columns, conv.depth(), pass.width()).transpose();
  });
}

}  // namespace penstock::graph
