// Ops that reduce a tensor over some of its axes share these declarations: the attributes, the
// shape rules, the walk through the tensor and its result, and what their gradients need.
#pragma once

#include <algorithm>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr ListAttribute axes{"axes"};
inline constexpr FlagAttribute keep{"keep"};

}  // namespace attribute

using Dims = std::vector<std::int64_t>;

/// Returns the shape of x with 1 in place of each axis that is reduced.
Shape kept_shape(const Attributes& attributes, const TensorType& x);
/// Maps x, f32, to x without the axes that are reduced or, if the attribute keep is 1, with 1
/// there.
std::vector<TensorType> infer_reduced(const Attributes& attributes, Types in);
/// Does what infer_reduced() does, and refuses an x without elements.
std::vector<TensorType> infer_reduced_elements(const Attributes& attributes, Types in);

/// A ReductionWalk walks through x and, at the same time, through a result whose shape, `result`,
/// broadcasts to that of x.
class ReductionWalk {
 public:
  ReductionWalk(const KernelCall& call, const Shape& result)
      : walk_(call.inputs[0].shape(), {dense_strides(call.inputs[0].shape()),
                                       broadcast_strides(result, call.inputs[0].shape())}),
        x_(call.inputs[0].f32().data()) {}

  std::int64_t length() const { return walk_.length(); }
  /// Calls `to_one(row, i)` for each row of x that is reduced to element i of the result, and
  /// `to_each(row, i)` for each row whose elements belong to the elements from i on.
  void for_each_row(const auto& to_one, const auto& to_each) const {
    const bool one = walk_.steps()[1] == 0;
    walk_.for_each_row(
        [&](const auto& at) { one ? to_one(x_ + at[0], at[1]) : to_each(x_ + at[0], at[1]); });
  }
  /// Calls `visit(i, j)` for each element i of x, which is reduced to element j of the result.
  void for_each_element(const auto& visit) const {
    walk_.for_each_row([&, step = walk_.steps()[1]](const auto& at) {
      for (std::int64_t k = 0; k < walk_.length(); ++k) visit(at[0] + k, at[1] + k * step);
    });
  }

 private:
  StridedWalk<2> walk_;
  const float* x_;
};

/// Returns the walk of an op whose attributes list the axes that are reduced.
ReductionWalk walk_over_axes(const KernelCall& call);

/// Adds `map` of the elements of x to `sums`, which has a sum for each element of the result. The
/// function `map(count, x, i, one, y)` computes y from `count` neighbours of x, which belong to
/// element i of the result if `one` is true, and otherwise to the elements from i on.
void add_mapped(const ReductionWalk& walk, double* sums, const auto& map) {
  constexpr std::int64_t block = 512;
  float mapped[block];
  const ReductionKernels& kernels = kernel_table().reductions;
  const auto in_blocks = [&](const auto& add) {
    for (std::int64_t first = 0; first < walk.length(); first += block)
      add(first, std::min(block, walk.length() - first));
  };
  walk.for_each_row(
      [&](const float* row, std::int64_t i) {
        in_blocks([&](std::int64_t first, std::int64_t count) {
          map(count, row + first, i, true, mapped);
          sums[i] += kernels.sum(count, mapped);
        });
      },
      [&](const float* row, std::int64_t i) {
        in_blocks([&](std::int64_t first, std::int64_t count) {
          map(count, row + first, i + first, false, mapped);
          kernels.add_to(count, mapped, sums + i + first);
        });
      });
}

/// Emits `value`, which has the shape of the output, repeated to the shape of x.
ValueId repeated(GradientContext& context, ValueId value);

/// Returns the samples that all of these ops have.
std::vector<OpSample> reduction_samples();

/// Returns `op` with the fields that all of these ops have in common.
Op reduction(Op op);

}  // namespace penstock::graph
