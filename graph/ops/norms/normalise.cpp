#include "graph/ops/norms/normalise.hpp"

#include <algorithm>
#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

Shape expect_last_axes(const TensorType& x, const TensorType& weight) {
  expect_dtype(weight, DType::f32, "weight");
  const auto all = x.shape.dims(), last = weight.shape.dims();
  expect(!last.empty() && last.size() <= all.size() &&
             std::equal(last.rbegin(), last.rend(), all.rbegin()),
         "expected weight of the shape of x's last axes, got " + to_string(weight.shape) +
             " for x " + to_string(x.shape));
  return Shape(all.first(all.size() - last.size()));
}

Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i) {
  return {mean.f32()[static_cast<std::size_t>(i)], inverse_std.f32()[static_cast<std::size_t>(i)]};
}

Moments moments_of(std::int64_t count, const float* x, double eps) {
  const auto elements = static_cast<double>(count);
  const auto mean = static_cast<float>(kernel_table().reductions.sum(count, x) / elements);
  const double variance = kernel_table().norms.squared_deviations(count, mean, x) / elements;
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};
}

std::int64_t forward_row_units(const Attributes&, Types, Types out) {
  return out[1].shape.elements();
}

std::int64_t gradient_row_units(const Attributes&, Types in, Types) {
  return in[2].shape.elements();
}

std::int64_t weight_gradient_workspace(const Attributes&, Types, Types out) {
  return WeightSums(out[0].shape.elements()).end * double_bytes;
}

void sum_weight_gradient(const KernelCall& call, std::int64_t length, std::int64_t first,
                         std::int64_t count,
                         Moments (*moments_of_row)(const KernelCall&, std::int64_t row)) {
  const WeightSums sums(count);
  double* const workspace = doubles(call.workspace);
  std::fill_n(workspace, sums.end, 0.0);
  for (std::int64_t row = 0; row < call.inputs[2].elements(); ++row) {
    const std::int64_t at = row * length + first;
    kernel_table().norms.add_weight_gradient(
        count, moments_of_row(call, row), call.inputs[0].f32().data() + at,
        call.inputs[1].f32().data() + at, workspace + sums.scales, workspace + sums.shifts);
  }
}

}  // namespace penstock::graph
