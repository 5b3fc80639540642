#include "graph/ops/arithmetic/vector_norm.hpp"

#include <algorithm>

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/reduced_axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute norm_p{"p", 2};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  check_f32("p", attribute::norm_p.of(attributes), {.low = 0, .above_low = true});
  return infer_reduced(attributes, in);
}

std::int64_t workspace(const Attributes&, Types, Types out) {
  return out[0].shape.elements() * double_bytes;
}

/// Computes |x|^p.
void raised(double p, std::int64_t count, const float* x, float* y) {
  const KernelTable& kernels = kernel_table();
  if (p == 2) return kernels.arithmetic.multiply(count, {x, false}, {x, false}, y);
  kernels.elementary.abs(count, x, y);
  if (p != 1) kernels.elementary.pow(count, p, y, y);
}

/// Computes x^(1/p).
void root(double p, std::int64_t count, float* x) {
  const ElementaryKernels& kernels = kernel_table().elementary;
  if (p == 2) return kernels.sqrt(count, x, x);
  if (p != 1) kernels.pow(count, 1 / p, x, x);
}

void forward(const KernelCall& call) {
  const double p = attribute::norm_p.of(call.attributes);
  const Operand& out = call.outputs[0];
  double* const sums = doubles(call.workspace);
  std::fill_n(sums, out.elements(), 0.0);
  add_mapped(walk_over_axes(call), sums,
             [&](std::int64_t count, const float* x, std::int64_t, bool, float* y) {
               raised(p, count, x, y);
             });
  kernel_table().reductions.round(out.elements(), sums, out.f32().data());
  root(p, out.elements(), out.f32().data());
}

/// Emits x·|x|^(p-2), which is sign(x)·|x|^(p-1).
ValueId signed_power(GradientContext& context, double p) {
  const ValueId x = context.input(0);
  if (p == 2) return x;
  const ValueId sign_of_x = context.emit(sign, {x});
  if (p == 1) return sign_of_x;
  const ValueId size = context.emit(pow, {context.emit(abs, {x})}, {{"exponent", p - 1}});
  const ValueId power_of_x = context.emit(mul, {sign_of_x, size});
  // Below 1, the power of 0 is infinite, and PyTorch counts it as 0.
  return p > 1 ? power_of_x : context.emit(where, {x, power_of_x, context.emit(fill, {})});
}

/// Emits dx = sign(x)·|x|^(p-1)·dy/y^(p-1), which is 0 where y is 0.
void backward(GradientContext& context) {
  const double p = attribute::norm_p.of(context.attributes());
  const ValueId y = context.output(0);
  ValueId share = context.gradient(0);
  if (p != 1) {
    const ValueId size = p == 2 ? y : context.emit(pow, {y}, {{"exponent", p - 1}});
    share = context.emit(where, {y, context.emit(div, {share, size}), context.emit(fill, {})});
  }
  context.set(0, context.emit(mul, {signed_power(context, p), repeated(context, share)}));
}

std::vector<OpSample> samples() {
  std::vector<OpSample> all = reduction_samples();
  const double powers[] = {2, 1, 3, 0.5, 1.5};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].attributes.set("p", powers[i]);
    all[i].low = 0.5;  // The norm has a kink at 0, near which powers below 1 are steep.
    all[i].high = 2;
  }
  return all;
}

}  // namespace

const Op vector_norm = reduction({.name = "vector_norm",
                                  .attributes = {attribute::norm_p},
                                  .infer = infer,
                                  .forward = forward,
                                  .backward = backward,
                                  .workspace = workspace,
                                  .samples = samples});

}  // namespace penstock::graph
